/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers on other machines: network namespaces with runtime folders of their own, which conformance_test.py makes. */
#include "conformance.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAMES_MAX 64

struct place {
	char name[SF_NAME_MAX], address[SF_ADDRESS_MAX];
};

/* The listeners that this process has opened or heard of. */
static __thread struct place places[NAMES_MAX];
static __thread unsigned num_places;

bool on_machines(void)
{
	return getenv("SOFTFIELD_TEST_MACHINES") != NULL;
}

static void place_add(const struct place *place)
{
	places[num_places++ % NAMES_MAX] = *place;
}

static const struct place *place_find(const char *name)
{
	for (unsigned i = 0; i < NAMES_MAX; i++) {
		if (strcmp(places[i].name, name) == 0)
			return &places[i];
	}
	return NULL;
}

const char *name_address(const char *name)
{
	const struct place *place = place_find(name);

	return place != NULL && place->address[0] != '\0' ? place->address : NULL;
}

void name_add(const char *name, struct sf_listener *listener)
{
	struct place place = {0};

	strcpy(place.name, name);
	if (on_machines())
		CHECK_OK(sf_listener_address(listener, place.address));
	place_add(&place);
}

void say_name(int sock, const char *name)
{
	const struct place *place = place_find(name);

	CHECK(place != NULL);
	say(sock, place, sizeof(*place));
}

void hear_name(int sock, char name[SF_NAME_MAX])
{
	struct place place;

	hear(sock, &place, sizeof(place));
	memcpy(name, place.name, SF_NAME_MAX);
	place_add(&place);
}

/* SOFTFIELD_TEST_MACHINES is a list of PID,FOLDER,ADDRESS: a process in the machine's namespace, the machine's runtime folder,
 * and the address where its processes listen. */
void machine_enter(unsigned number)
{
	char *machines = getenv("SOFTFIELD_TEST_MACHINES"), *machine[8], path[64];
	unsigned num = 0;
	int namespace;

	if (machines == NULL)
		return;
	for (char *next = strtok(strdup(machines), " "); next != NULL && num < 8; next = strtok(NULL, " "))
		machine[num++] = next;
	CHECK(num != 0);
	snprintf(path, sizeof(path), "/proc/%s/ns/net", strtok(machine[number % num], ","));
	namespace = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(namespace >= 0);
	CHECK(setns(namespace, CLONE_NEWNET) == 0);
	close(namespace);
	setenv("SOFTFIELD_RUNTIME", strtok(NULL, ","), 1);
	setenv("SOFTFIELD_LISTEN", strtok(NULL, ","), 1);
}
