/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/service_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "urom/net_devices.h"
#include "urom/proto.h"

enum field { APP_HOST, SERVICE_TYPE, DEV_HOST, DEV_PCI, NET_DEVICES, FIELDS };

#define FIELD_MAX 256
#define WRONG_LINES_MAX 16 /* that are logged */

struct line {
	char fields[FIELDS][FIELD_MAX];
	uint32_t num;
	bool too_long; /* a field, or more fields than expected */
};

/* ---- one line ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void line_split(const char *at, const char *end, struct line *line)
{
	line->num = 0;
	line->too_long = false;
	while (at < end && *at != '#') {
		const char *from = at;

		while (at < end && *at != '#' && !is_blank(*at))
			at++;
		size_t len = (size_t)(at - from);
		if (len == 0) {
			at++;
			continue;
		}
		if (line->num == FIELDS || len >= FIELD_MAX || memchr(from, '\0', len) != NULL) {
			line->too_long = true;
			return;
		}
		memcpy(line->fields[line->num], from, len);
		line->fields[line->num++][len] = '\0';
	}
}

/* "d8:00.0" and "0000:d8:00.0" are the same. */
static bool parse_pci(const char *text, uint32_t out[4])
{
	char end;

	out[0] = 0;
	if (sscanf(text, "%4x:%2x:%2x.%1x%c", &out[0], &out[1], &out[2], &out[3], &end) == 4)
		return true;
	out[0] = 0;
	return sscanf(text, "%2x:%2x.%1x%c", &out[1], &out[2], &out[3], &end) == 3;
}

static bool same_pci(const char *a, const char *b)
{
	uint32_t x[4], y[4];

	return parse_pci(a, x) && parse_pci(b, y) && memcmp(x, y, sizeof(x)) == 0;
}

static bool take_host(const char *text, struct urom_service_entry *entry)
{
	const char *colon = strrchr(text, ':');
	size_t len = strlen(text);

	entry->port = UROM_PORT_DEFAULT;
	if (colon != NULL &&
	    (strchr(text, ':') == colon || (text[0] == '[' && colon[-1] == ']'))) { /* else a bare IPv6 address */
		char *end;
		unsigned long port = strtoul(colon + 1, &end, 10);
		if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port == 0 || port > UINT16_MAX)
			return false;
		entry->port = (uint16_t)port;
		len = (size_t)(colon - text);
	}
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	memcpy(entry->host, text, len);
	entry->host[len] = '\0';
	return len != 0;
}

/* Returns the error in a line, or NULL. */
static const char *check_line(const struct line *line, struct urom_service_entry *entry)
{
	uint32_t pci[4];

	if (line->too_long || line->num != FIELDS)
		return "it does not have five fields of at most 255 bytes";
	if (strcasecmp(line->fields[SERVICE_TYPE], "dpu") != 0)
		return "its service type is not dpu";
	if (!parse_pci(line->fields[DEV_PCI], pci))
		return "its fourth field is not a PCI address";
	if (!take_host(line->fields[DEV_HOST], entry))
		return "its third field is neither a host nor a host and a port";
	memcpy(entry->net_devices, line->fields[NET_DEVICES], UROM_NET_DEVICES_MAX);
	return NULL;
}

doca_error_t urom_service_file_find(const char *text, size_t len, const char *path, const char *pci_addr,
				    bool (*is_here)(const char *hostname), struct urom_service_entry *entry)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf"; /* a byte order mark that some editors add */
	const char *end = text + len;
	uint32_t num_wrong = 0;

	if (len >= sizeof(byte_order_mark) - 1 && memcmp(text, byte_order_mark, sizeof(byte_order_mark) - 1) == 0)
		text += sizeof(byte_order_mark) - 1;
	for (uint32_t number = 1; text < end; number++) {
		const char *newline = (const char *)memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline != NULL ? newline : end;
		struct line line;

		line_split(text, line_end, &line);
		text = line_end + 1;
		if (line.num == 0 && !line.too_long)
			continue;
		const char *wrong = check_line(&line, entry);
		if (wrong != NULL && num_wrong++ < WRONG_LINES_MAX)
			SF_LOG_WARN("urom: ignored line %u of %s: %s%s", number, path, wrong,
				    num_wrong == WRONG_LINES_MAX ? "; further lines are not reported" : "");
		if (wrong == NULL && same_pci(line.fields[DEV_PCI], pci_addr) && is_here(line.fields[APP_HOST]))
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

/* ---- this machine ---- */

static bool is_own_address(const char *text)
{
	struct in6_addr wanted6;
	struct in_addr wanted;
	bool is4 = inet_pton(AF_INET, text, &wanted) == 1, is6 = inet_pton(AF_INET6, text, &wanted6) == 1, found = false;
	struct ifaddrs *addresses;

	if ((!is4 && !is6) || getifaddrs(&addresses) != 0)
		return false;
	for (const struct ifaddrs *at = addresses; at != NULL && !found; at = at->ifa_next) {
		if (at->ifa_addr == NULL)
			continue;
		if (is4 && at->ifa_addr->sa_family == AF_INET)
			found = ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr == wanted.s_addr;
		else if (is6 && at->ifa_addr->sa_family == AF_INET6)
			found = memcmp(&((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr, &wanted6,
				       sizeof(wanted6)) == 0;
	}
	freeifaddrs(addresses);
	return found;
}

static bool is_this_host(const char *hostname)
{
	char own[UROM_HOST_MAX] = "";

	if (gethostname(own, sizeof(own) - 1) == 0 && strcasecmp(own, hostname) == 0)
		return true;
	size_t len = strcspn(own, ".");
	if (len != 0 && strcspn(hostname, ".") == len && strncasecmp(own, hostname, len) == 0 &&
	    (own[len] == '\0' || hostname[len] == '\0'))
		return true; /* one equals the other without its domain */
	const char *node = secure_getenv("SOFTFIELD_NODE");
	return strcasecmp(hostname, "localhost") == 0 || (node != NULL && strcasecmp(hostname, node) == 0) ||
	       is_own_address(hostname);
}

static doca_error_t read_file(const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		SF_LOG_ERR("urom: cannot open the service file %s, which DOCA_UROM_SERVICE_FILE names: %s", path,
			   strerror(errno));
		return DOCA_ERROR_NOT_FOUND;
	}
	*text = (char *)malloc(UROM_SERVICE_FILE_MAX + 1);
	*len = *text != NULL ? fread(*text, 1, UROM_SERVICE_FILE_MAX + 1, file) : 0;
	int error = ferror(file) != 0 ? errno : 0;
	fclose(file);
	if (*text != NULL && error != 0) { /* a folder, say */
		SF_LOG_ERR("urom: cannot read the service file %s, which DOCA_UROM_SERVICE_FILE names: %s", path,
			   strerror(error));
		free(*text);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (*text != NULL && *len <= UROM_SERVICE_FILE_MAX)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom: the service file %s is %s", path, *text == NULL ? "more than memory holds" : "longer than 1 MiB");
	free(*text);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t urom_service_look_up(const char *pci_addr, struct urom_service_entry *entry)
{
	const char *path = secure_getenv("DOCA_UROM_SERVICE_FILE");
	char *text;
	size_t len;

	if (path == NULL || path[0] == '\0') {
		SF_LOG_ERR("urom: DOCA_UROM_SERVICE_FILE is not set: it names the file in which services are looked up");
		return DOCA_ERROR_NOT_FOUND;
	}
	doca_error_t result = read_file(path, &text, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = urom_service_file_find(text, len, path, pci_addr, is_this_host, entry);
	free(text);
	if (result == DOCA_ERROR_NOT_FOUND)
		SF_LOG_ERR("urom: %s has no line for this host and the device %s: add \"<this host> dpu <service's host> %s "
			   "<network device>\"",
			   path, pci_addr, pci_addr);
	if (result != DOCA_SUCCESS)
		return result;
	char named[UROM_NET_DEVICES_MAX];
	memcpy(named, entry->net_devices, sizeof(named));
	urom_net_devices_for_tcp(named, "/sys", entry->net_devices, sizeof(entry->net_devices));
	return DOCA_SUCCESS;
}
