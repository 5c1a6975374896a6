/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "common.h"

#define PATH_ROOM 512

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

doca_error_t sample_log_to_stderr(void)
{
	struct doca_log_backend *backend;
	doca_error_t status = doca_log_backend_create_with_file_sdk(stderr, &backend);

	if (status != DOCA_SUCCESS)
		return status;
	return doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING);
}

doca_error_t sample_failed(const char *what, doca_error_t status)
{
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(status));
	return status;
}

static bool device_fits(const struct doca_devinfo *devinfo, const char *pci_address,
			doca_error_t (*supports)(const struct doca_devinfo *devinfo))
{
	uint8_t equal = 0;

	if (pci_address != NULL && (doca_devinfo_is_equal_pci_addr(devinfo, pci_address, &equal) != DOCA_SUCCESS || !equal))
		return false;
	return supports == NULL || supports(devinfo) == DOCA_SUCCESS;
}

doca_error_t sample_open_device(const char *pci_address, doca_error_t (*supports)(const struct doca_devinfo *devinfo),
				struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint32_t num;
	doca_error_t status = doca_devinfo_create_list(&list, &num);

	if (status != DOCA_SUCCESS)
		return sample_failed("list of devices", status);
	status = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && status != DOCA_SUCCESS; i++)
		if (device_fits(list[i], pci_address, supports))
			status = doca_dev_open(list[i], dev);
	doca_devinfo_destroy_list(list);
	return status == DOCA_SUCCESS ? status : sample_failed(pci_address == NULL ? "device" : pci_address, status);
}

doca_error_t sample_open_representor(struct doca_dev *dev, const char *pci_address, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	uint32_t num;
	uint8_t equal;
	doca_error_t status = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num);

	if (status != DOCA_SUCCESS)
		return sample_failed("list of representors", status);
	status = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && status != DOCA_SUCCESS; i++) {
		equal = pci_address == NULL;
		if (!equal && doca_devinfo_rep_is_equal_pci_addr(list[i], pci_address, &equal) != DOCA_SUCCESS)
			continue;
		if (equal)
			status = doca_dev_rep_open(list[i], rep);
	}
	doca_devinfo_rep_destroy_list(list);
	return status == DOCA_SUCCESS ? status : sample_failed(pci_address == NULL ? "representor" : pci_address, status);
}

doca_error_t sample_progress_until(struct doca_pe *pe, const bool *done)
{
	const double end = now_seconds() + SAMPLE_PATIENCE_SECONDS;

	while (!*done) {
		if (doca_pe_progress(pe))
			continue;
		if (now_seconds() > end)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

doca_error_t sample_leave(const char *path, const void *data, size_t len)
{
	char part[PATH_ROOM];
	bool written;
	FILE *file;

	snprintf(part, sizeof(part), "%s.part", path);
	file = fopen(part, "wb");
	if (file == NULL)
		return sample_failed(part, DOCA_ERROR_IO_FAILED);
	written = fwrite(data, 1, len, file) == len;
	written = fclose(file) == 0 && written;
	if (!written || rename(part, path) != 0)
		return sample_failed(path, DOCA_ERROR_IO_FAILED);
	return DOCA_SUCCESS;
}

doca_error_t sample_await(const char *path, void *data, size_t room, size_t *len)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const double end = now_seconds() + SAMPLE_PATIENCE_SECONDS;
	FILE *file;
	bool whole;

	while ((file = fopen(path, "rb")) == NULL) {
		if (now_seconds() > end)
			return sample_failed(path, DOCA_ERROR_TIME_OUT);
		nanosleep(&pause, NULL);
	}
	*len = fread(data, 1, room, file);
	whole = fgetc(file) == EOF;
	fclose(file);
	return whole ? DOCA_SUCCESS : sample_failed(path, DOCA_ERROR_TOO_BIG);
}
