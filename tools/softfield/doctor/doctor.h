/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield doctor: each function checks one part of the system, and reports one or more lines. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "doctor/process.h"
#include "doctor/report.h"

/* settings.c */
void doctor_check_environment(struct doctor_report *report);
void doctor_check_topology(struct doctor_report *report);
void doctor_check_key(struct doctor_report *report);

/* meeting.c: runtime folders and libraries of processes. */
void doctor_check_folder(struct doctor_report *report, const struct doctor_processes *processes);
void doctor_check_other_folders(struct doctor_report *report, const struct doctor_processes *processes);
void doctor_check_libraries(struct doctor_report *report, const struct doctor_processes *processes);

/* limits.c */
void doctor_check_limits(struct doctor_report *report);

/* kernel.c */
void doctor_check_kernel(struct doctor_report *report);
void doctor_check_permissions(struct doctor_report *report);

/* hardware.c */
void doctor_check_hardware(struct doctor_report *report);

#endif
