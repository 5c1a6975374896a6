/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor/doctor.h"

#include <string.h>

#include "tool.h"

int tool_doctor(int argc, char **argv)
{
	bool json = argc == 2 && !strcmp(argv[1], "--json"), well;
	struct doctor_processes processes;
	struct doctor_report *report;

	if (argc > 1 && !json)
		return tool_usage_error("doctor takes no argument but --json");
	report = doctor_report_create();
	doctor_processes_find(&processes);
	doctor_check_environment(report);
	doctor_check_topology(report);
	doctor_check_key(report);
	doctor_check_folder(report, &processes);
	doctor_check_other_folders(report, &processes);
	doctor_check_libraries(report, &processes);
	doctor_check_limits(report);
	doctor_check_permissions(report);
	doctor_check_kernel(report);
	doctor_check_hardware(report);
	doctor_processes_free(&processes);
	well = doctor_report_print(report, json);
	doctor_report_destroy(report);
	return well ? TOOL_OK : TOOL_FAILED;
}
