/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon the agent has to look again at what only time changes. */
#ifndef SF_FABRIC_CONTROL_PACE_H
#define SF_FABRIC_CONTROL_PACE_H

enum sf_pace {
	SF_PACE_IDLE, /* nothing is timed: it sleeps until something comes */
	SF_PACE_SLOW, /* limits of a second and more are running */
	SF_PACE_FAST, /* something is tried again in milliseconds */
};

#endif
