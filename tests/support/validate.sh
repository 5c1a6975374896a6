# SPDX-License-Identifier: BSD-3-Clause
# Validation of our own programs, to be sourced by scripts that run them. $work is a folder of the test.
export SOFTFIELD_VALIDATE="1,file=$work/reports"

# validated: true if no program broke a rule; else prints the reports.
validated() {
	[ -e "$work/reports" ] || { echo "no program was checked: there is no $work/reports"; return 1; }
	[ ! -s "$work/reports" ] && return
	echo 'validation reports:'
	cat "$work/reports"
	return 1
}
