/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon the agent must check time-dependent state again. */
#ifndef SF_FABRIC_CONTROL_PACE_H
#define SF_FABRIC_CONTROL_PACE_H

enum sf_pace {
	SF_PACE_IDLE, /* no time limits: it sleeps until an event */
	SF_PACE_SLOW, /* time limits of a second or more are active */
	SF_PACE_FAST, /* something is retried in milliseconds */
};

#endif
