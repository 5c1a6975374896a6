/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor/doctor.h"

#include "tool.h"

static int doctor_run(struct cli *cli)
{
	bool json = tool_json_asked(cli), well;
	struct doctor_processes processes;
	struct doctor_report *report;

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

const struct cli_command tool_doctor = {
	.name = "doctor",
	.summary = "Find problems that keep Softfield from working here, or make it slower, with advice.",
	.text = "Exit status: 0 without an error, 1 with one.\n",
	.options = tool_json_option,
	.run = doctor_run,
};
