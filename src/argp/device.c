/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>

#include "argp/report.h"

#define NAME_MAX_LEN 255
#define PCI_PREFIX "pci/"

/* The parts of a value such as "pci/0000:03:00.0,pf0vf0,arguments". */
struct place {
	char dev[NAME_MAX_LEN + 1], rep[NAME_MAX_LEN + 1];
	const char *devargs; /* or NULL */
};

/* Devices that the program's callback opened, by name, which is unique on a machine. */
struct opened {
	struct opened *next;
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_dev *dev;
};

static struct {
	doca_argp_dev_open_cb_t callback;
	void *usr_ctx;
	struct opened *opened;
} own;

void sf_argp_device_set_open(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	for (struct opened *next, *at = own.opened; at != NULL; at = next) {
		next = at->next;
		free(at);
	}
	own.opened = NULL;
	own.callback = callback;
	own.usr_ctx = usr_ctx;
}

/* ---- parsing ---- */

/* Copies the text up to the next comma and advances past it. False if the part is empty or too long. */
static bool part_take(char part[NAME_MAX_LEN + 1], const char **text)
{
	size_t len = strcspn(*text, ",");

	if (len == 0 || len > NAME_MAX_LEN)
		return false;
	memcpy(part, *text, len);
	part[len] = '\0';
	*text += len;
	*text = **text == ',' ? *text + 1 : NULL;
	return true;
}

static bool place_parse(struct place *place, const struct doca_argp_param *param, const char *text)
{
	const bool has_prefix = strncmp(text, PCI_PREFIX, strlen(PCI_PREFIX)) == 0;

	text += has_prefix ? strlen(PCI_PREFIX) : 0;
	if (!part_take(place->dev, &text) || (has_prefix && strchr(place->dev, ':') == NULL))
		return false;
	if (param->type == DOCA_ARGP_TYPE_DEVICE_REP && (text == NULL || !part_take(place->rep, &text)))
		return false;
	place->devargs = text;
	return true;
}

doca_error_t sf_argp_device_check(const struct doca_argp_param *param, const char *text)
{
	char label[SF_ARGP_LABEL_SIZE];
	struct place place;

	if (place_parse(&place, param, text))
		return DOCA_SUCCESS;
	sf_argp_report("%s takes %s, not '%s'", sf_argp_param_label(param, label, sizeof(label)),
		       param->type == DOCA_ARGP_TYPE_DEVICE ? "a device, such as pci/0000:03:00.0"
							    : "a device and a representor, such as pci/0000:03:00.0,pf0vf0",
		       text);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

static bool is_named(const struct doca_devinfo *info, const char *name)
{
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t is_equal = 0;

	if (strchr(name, ':') != NULL)
		return doca_devinfo_is_equal_pci_addr(info, name, &is_equal) == DOCA_SUCCESS && is_equal;
	return (doca_devinfo_get_ibdev_name(info, text, sizeof(text)) == DOCA_SUCCESS && strcmp(text, name) == 0) ||
	       (doca_devinfo_get_iface_name(info, text, sizeof(text)) == DOCA_SUCCESS && strcmp(text, name) == 0);
}

/* Opens each device once. */
static doca_error_t open_by_callback(struct doca_devinfo *info, struct doca_dev **dev)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	doca_error_t result;

	if (opened == NULL) {
		sf_argp_report("no memory to open a device");
		return DOCA_ERROR_NO_MEMORY;
	}
	result = doca_devinfo_get_ibdev_name(info, opened->ibdev, sizeof(opened->ibdev));
	for (const struct opened *at = own.opened; at != NULL && result == DOCA_SUCCESS; at = at->next) {
		if (strcmp(at->ibdev, opened->ibdev) == 0) {
			*dev = at->dev;
			free(opened);
			return DOCA_SUCCESS;
		}
	}
	if (result == DOCA_SUCCESS)
		result = own.callback(info, own.usr_ctx, &opened->dev);
	if (result != DOCA_SUCCESS) {
		sf_argp_report("the program did not open device %s (%s)", opened->ibdev, doca_error_get_name(result));
		free(opened);
		return result;
	}
	*dev = opened->dev;
	opened->next = own.opened;
	own.opened = opened;
	return DOCA_SUCCESS;
}

static doca_error_t dev_open(const char *name, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint32_t num, i = 0;
	doca_error_t result = doca_devinfo_create_list(&list, &num);

	if (result != DOCA_SUCCESS) {
		sf_argp_report("device %s cannot be opened: there are no devices (%s)", name, doca_error_get_name(result));
		return result;
	}
	while (i < num && !is_named(list[i], name))
		i++;
	if (i == num) {
		sf_argp_report("there is no device %s; `softfield devices` lists them", name);
		result = DOCA_ERROR_NOT_FOUND;
	} else {
		result = own.callback != NULL ? open_by_callback(list[i], dev) : doca_dev_open(list[i], dev);
	}
	doca_devinfo_destroy_list(list);
	return result;
}

/* ---- representors ---- */

static bool is_rep_named(const struct doca_devinfo_rep *info, const char *name)
{
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t is_equal = 0;

	if (strchr(name, ':') != NULL)
		return doca_devinfo_rep_is_equal_pci_addr(info, name, &is_equal) == DOCA_SUCCESS && is_equal;
	return doca_devinfo_rep_get_iface_name(info, text, sizeof(text)) == DOCA_SUCCESS && strcmp(text, name) == 0;
}

static doca_error_t rep_open(const struct place *place, struct doca_dev *dev, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	uint32_t num, i = 0;
	doca_error_t result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &num);

	if (result != DOCA_SUCCESS) {
		sf_argp_report("device %s has no representors (%s): name a port of a DPU", place->dev,
			       doca_error_get_name(result));
		return result;
	}
	while (i < num && !is_rep_named(list[i], place->rep))
		i++;
	if (i == num) {
		sf_argp_report("device %s has no representor %s; `softfield devices` lists them", place->dev, place->rep);
		result = DOCA_ERROR_NOT_FOUND;
	} else {
		result = doca_dev_rep_open(list[i], rep);
	}
	doca_devinfo_rep_destroy_list(list);
	return result;
}

/* ---- both ---- */

doca_error_t sf_argp_device_open(struct sf_argp_device *device, const struct doca_argp_param *param, const char *text)
{
	struct place place = {.devargs = NULL};
	doca_error_t result;

	*device = (struct sf_argp_device){.is_ours = own.callback == NULL};
	if (!place_parse(&place, param, text))
		return DOCA_ERROR_INVALID_VALUE;
	device->ctx.dev_ctx.devargs = place.devargs;
	result = dev_open(place.dev, &device->ctx.dev_ctx.dev);
	if (result != DOCA_SUCCESS || param->type != DOCA_ARGP_TYPE_DEVICE_REP)
		return result;
	result = rep_open(&place, device->ctx.dev_ctx.dev, &device->ctx.dev_rep);
	if (result != DOCA_SUCCESS)
		sf_argp_device_close(device);
	return result;
}

void sf_argp_device_close(struct sf_argp_device *device)
{
	if (device->ctx.dev_rep != NULL)
		doca_dev_rep_close(device->ctx.dev_rep);
	if (device->is_ours && device->ctx.dev_ctx.dev != NULL)
		doca_dev_close(device->ctx.dev_ctx.dev);
}
