/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology files: their meaning, and how a mistake in one is reported. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/child.h"
#include "topology/sysfs.h"
#include "topology/topology.h"

static struct sf_topology *parse(const char *text)
{
	struct sf_topology *t = NULL;
	char *message = NULL;
	doca_error_t result = sf_topology_parse(text, strlen(text), &t, &message);

	if (message)
		print_error("%s\n", message);
	assert_int_equal(result, DOCA_SUCCESS);
	assert_null(message);
	return t;
}

static const struct sf_device *device(const struct sf_topology *t, const char *key)
{
	for (uint32_t i = 0; i < t->num_devices; i++) {
		if (!strcmp(t->devices[i].key, key))
			return &t->devices[i];
	}
	fail_msg("no device %s", key);
	return NULL;
}

/* ---- what files mean ---- */

static void default_is_the_guides_machine(void **state)
{
	struct sf_topology *t = parse(sf_topology_default);

	assert_int_equal(t->num_nodes, 2);
	assert_int_equal(t->num_devices, 6);
	assert_int_equal(t->num_gpus, 1);
	assert_string_equal(t->nodes[0].name, "host0");
	assert_int_equal(t->nodes[1].kind, SF_NODE_DPU);
	assert_string_equal(t->nodes[1].host, "host0");
	assert_string_equal(device(t, "dpu0/0000:03:00.0")->ibdev, "mlx5_0");
	assert_string_equal(device(t, "dpu0/0000:03:00.1")->iface, "p1");
	assert_ptr_equal(device(t, "host0/0000:d8:00.0")->uplink, device(t, "dpu0/0000:03:00.0"));
	assert_ptr_equal(device(t, "host0/0000:d8:00.3")->uplink, device(t, "dpu0/0000:03:00.0"));
	assert_int_equal(device(t, "host0/0000:d8:00.3")->kind, SF_FUNCTION_VF);
	assert_ptr_equal(device(t, "host0/0000:d8:00.1")->uplink, device(t, "dpu0/0000:03:00.1"));
	assert_string_equal(t->gpus[0].pci_addr, "0000:b5:00.0");
	assert_ptr_equal(t->gpus[0].node, &t->nodes[0]);
	sf_topology_free(t);
}

static void values_of_a_file_are_used(void **state)
{
	static const char text[] =
		"{'nodes':[{'name':'h','kind':'host'},{'name':'d','kind':'dpu','host':'h','address':'dpu.example','cpus':16,'"
		"ports':'18600-"
		"18699'}],"
		"'devices':[{'node':'d','pci':'0001:AB:1f.7'},"
		"{'node':'h','pci':'81:00.0','ibdev':'rdma9','iface':'eth9','mac':'06:00:00:00:00:0A','ipv4':'10.1.2.3',"
		"'ipv6':'fd00::1','rate_gbps':25,'engine_threads':5,'uplink':'d/"
		"0001:ab:1F.7','sfs':[{'index':4},{'index':70000,'engine_threads':64}]}],"
		"'gpus':[{'node':'h','pci':'65:00.0','name':'My GPU'}]}";
	char json[sizeof(text)];
	const uint8_t mac[6] = {6, 0, 0, 0, 0, 0x0a}, ipv4[4] = {10, 1, 2, 3};

	for (size_t i = 0; i < sizeof(text); i++)
		json[i] = text[i] == '\'' ? '"' : text[i];

	struct sf_topology *t = parse(json);
	const struct sf_device *pf = device(t, "h/0000:81:00.0"), *sf = device(t, "h/0000:81:00.0/sf70000");

	assert_string_equal(t->nodes[1].address, "dpu.example");
	assert_int_equal(t->nodes[0].cpus, 0);
	assert_int_equal(t->nodes[1].cpus, 16);
	assert_int_equal(t->nodes[1].ports.first, 18600);
	assert_int_equal(t->nodes[1].ports.last, 18699);
	assert_string_equal(pf->ibdev, "rdma9");
	assert_string_equal(pf->iface, "eth9");
	assert_memory_equal(pf->mac, mac, 6);
	assert_true(pf->has_ipv4);
	assert_memory_equal(pf->ipv4, ipv4, 4);
	assert_int_equal(pf->ipv6[0], 0xfd);
	assert_int_equal(pf->ipv6[15], 1);
	assert_int_equal(pf->rate_bps, UINT64_C(25000000000));
	assert_int_equal(pf->engine_threads, 5);
	assert_int_equal(sf->engine_threads, 64);
	assert_int_equal(pf->uplink->engine_threads, 0);
	assert_string_equal(pf->uplink->key, "d/0001:ab:1f.7");
	assert_int_equal(sf->kind, SF_FUNCTION_SF);
	assert_int_equal(sf->sf_index, 70000);
	assert_string_equal(sf->pci_addr, "0000:81:00.0");
	assert_ptr_equal(sf->uplink, pf->uplink);
	assert_string_equal(t->gpus[0].name, "My GPU");
	sf_topology_free(t);
}

static void missing_names_are_generated(void **state)
{
	struct sf_topology *t =
		parse("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"},{\"name\":\"d\",\"kind\":\"dpu\",\"host\":\"h\"}],"
		      "\"devices\":[{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{\"index\":8}]},"
		      "{\"node\":\"h\",\"pci\":\"d8:00.0\",\"ibdev\":\"mlx5_1\",\"uplink\":\"d/03:00.0\","
		      "\"vfs\":[{\"pci\":\"d8:00.1\"}],\"sfs\":[{\"index\":3}]}]}");
	const struct sf_device *port = device(t, "d/0000:03:00.0"), *pf = device(t, "h/0000:d8:00.0");

	assert_string_equal(port->iface, "p0");
	assert_string_equal(port->ibdev, "mlx5_0");
	assert_string_equal(pf->iface, "enp216s0f0np0");
	assert_string_equal(pf->rep_iface, "pf0hpf");
	assert_string_equal(device(t, "d/0000:03:00.0/sf8")->iface, "enp3s0f0s8");
	assert_string_equal(device(t, "d/0000:03:00.0/sf8")->ibdev, "mlx5_2"); /* another device of the file has mlx5_1 */
	assert_string_equal(device(t, "d/0000:03:00.0/sf8")->rep_iface, "pf0sf8");
	assert_string_equal(device(t, "h/0000:d8:00.1")->iface, "enp216s0f0v0");
	assert_string_equal(device(t, "h/0000:d8:00.1")->rep_iface, "pf0vf0");
	assert_string_equal(device(t, "h/0000:d8:00.0/sf3")->rep_iface, "c1pf0sf3");
	assert_true(port->mac[0] & 2);
	assert_int_equal(port->ipv6[0], 0xfe);
	assert_int_equal(port->rate_bps, UINT64_C(200000000000));
	assert_false(port->has_ipv4);
	assert_string_equal(port->rep_iface, "");
	sf_topology_free(t);
}

static void generated_properties_are_unique(void **state)
{
	struct sf_topology *t = parse(sf_topology_default);

	for (uint32_t i = 0; i < t->num_devices; i++) {
		for (uint32_t j = 0; j < i; j++) {
			const struct sf_device *a = &t->devices[i], *b = &t->devices[j];

			assert_string_not_equal(a->key, b->key);
			assert_string_not_equal(a->vuid, b->vuid);
			assert_string_not_equal(a->ibdev, b->ibdev);
			assert_memory_not_equal(a->mac, b->mac, 6);
			assert_memory_not_equal(a->ipv6, b->ipv6, 16);
			assert_int_not_equal(a->vhca_id, b->vhca_id);
		}
	}
	sf_topology_free(t);
}

/* A device without a MAC never gets one that the file sets for another device. */
static void a_generated_mac_differs_from_the_files(void **state)
{
	struct sf_topology *t =
		parse("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"}],\"devices\":[{\"node\":\"h\",\"pci\":\"01:00.0\"},"
		      "{\"node\":\"h\",\"pci\":\"02:00.0\",\"mac\":\"02:5f:00:00:00:01\"}]}");

	assert_memory_not_equal(t->devices[0].mac, t->devices[1].mac, 6);
	sf_topology_free(t);
}

static bool is_bare(const char *text)
{
	struct sf_topology *t;
	char *message;
	bool bare;

	assert_int_equal(sf_topology_parse(text, strlen(text), &t, &message), DOCA_SUCCESS);
	bare = t->is_bare;
	sf_topology_free(t);
	return bare;
}

static void only_tls_false_means_without_tls(void **state)
{
	assert_false(is_bare("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"}],\"key\":\"k\"}"));
	assert_false(is_bare("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"}],\"key\":\"k\",\"tls\":true}"));
	assert_false(is_bare("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"}],\"tls\":true}"));
	assert_true(is_bare("{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\"}],\"key\":\"k\",\"tls\":false}"));
}

/* ---- mistakes ---- */

#define HOST "{\"name\":\"h\",\"kind\":\"host\"}"
#define DPU "{\"name\":\"d\",\"kind\":\"dpu\",\"host\":\"h\"}"
#define FILE_OF(devices) "{\"nodes\":[" HOST "," DPU "],\"devices\":[" devices "]}"
#define PORT "{\"node\":\"d\",\"pci\":\"03:00.0\"}"

static const struct mistake {
	const char *text, *reported; /* start of the error message */
} mistakes[] = {
	{"", "line 1, column 1: unexpected end of the text"},
	{"{", "line 1, column 2: unexpected end of the text"},
	{"nonsense", "line 1, column 2: "},
	{"{\n\"nodes\": [}", "line 2, column 11: "},
	{"{\"nodes\":[" HOST "]} {}", "line 1, column 40: unexpected text after the document"},
	{"{\"nodes\":[" HOST "],}", "line 1, column 39: "},
	{"null", "expected an object, found null"},
	{"[]", "expected an object, found array"},
	{"17", "expected an object, found int"},
	{"{}", "nodes: missing"},
	{"{\"nodes\":{}}", "nodes: expected an array, found object"},
	{"{\"nodes\":[]}", "nodes: expected 1 to 256 entries, found 0"},
	{"{\"nodes\":[1]}", "nodes[0]: expected an object, found int"},
	{"{\"nodes\":[" HOST "],\"device\":[]}", "unknown key \"device\"; known keys here: description, nodes, devices, gpus"},
	{"{\"nodes\":[" HOST "],\"nodes, devices\":[]}", "unknown key \"nodes, devices\""},
	{"{\"nodes\":[" HOST "],\"key\":\"k\",\"tls\":0}", "tls: expected true or false, found int"},
	{"{\"nodes\":[" HOST "],\"key\":\"k\",\"tls\":\"false\"}", "tls: expected true or false, found string"},
	{"{\"nodes\":[" HOST "],\"tls\":false}", "tls: false without a \"key\": name the file"},
	{"{\"nodes\":[" HOST "],\"devic\":[]}", "unknown key \"devic\""},
	{"{\"nodes\":[" HOST "],\"\":[]}", "unknown key \"\""},
	{"{\"nodes\":[{\"kind\":\"host\"}]}", "nodes[0].name: missing; expected a string"},
	{"{\"nodes\":[{\"name\":\"\",\"kind\":\"host\"}]}", "nodes[0].name: expected 1 to 63 characters, found 0"},
	{"{\"nodes\":[{\"name\":\"a/b\",\"kind\":\"host\"}]}", "nodes[0].name: \"a/b\" is not a name"},
	{"{\"nodes\":[{\"name\":\"..\",\"kind\":\"host\"}]}", "nodes[0].name: \"..\" is not a name"},
	{"{\"nodes\":[{\"name\":\"a\\u0000b\",\"kind\":\"host\"}]}", "nodes[0].name: contains a NUL"},
	{"{\"nodes\":[{\"name\":\"\\u001b[31m\",\"kind\":\"host\"}]}", "nodes[0].name: \"?[31m\" is not a name"},
	{"{\"nodes\":[{\"name\":\"a\",\"kind\":\"switch\"}]}", "nodes[0].kind: expected \"host\" or \"dpu\", found \"switch\""},
	{"{\"nodes\":[{\"name\":\"a\",\"kind\":1}]}", "nodes[0].kind: expected a string, found int"},
	{"{\"nodes\":[" HOST "," HOST "]}", "nodes[1].name: \"h\" is the name of nodes[0] already"},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"host\":\"h\"}]}", "nodes[0].host: only a node of kind \"dpu\""},
	{"{\"nodes\":[" DPU "]}", "nodes[0].host: no node of kind \"host\" is named \"h\""},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"address\":\"a b\"}]}", "nodes[0].address: \"a b\" is not"},
	{FILE_OF("7"), "devices[0]: expected an object, found int"},
	{FILE_OF("{\"node\":\"d\"}"), "devices[0].pci: missing"},
	{FILE_OF("{\"node\":\"x\",\"pci\":\"03:00.0\"}"), "devices[0].node: no node is named \"x\""},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"cpus\":8}]}", "nodes[0].cpus: only a node of kind \"dpu\" has cpus"},
	{"{\"nodes\":[{\"name\":\"d\",\"kind\":\"dpu\",\"cpus\":1025}]}", "nodes[0].cpus: "},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"ports\":\"9-8\"}]}", "nodes[0].ports: \"9-8\" is not a range"},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"ports\":\"0-8\"}]}", "nodes[0].ports: \"0-8\" is not a range"},
	{"{\"nodes\":[{\"name\":\"h\",\"kind\":\"host\",\"ports\":\"18000-19000\"}]}",
	 "nodes[0].ports: \"18000-19000\" includes 18515"},
	{FILE_OF(PORT ",{\"node\":\"d\",\"pci\":\"3:0.0\"}"), "devices[1].pci: \"3:0.0\" is not a PCI address"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"pcie\":1}"), "devices[0]: unknown key \"pcie\""},
	{FILE_OF(PORT "," PORT), "devices[1].pci: the same as devices[0].pci"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"vfs\":[]}"), "devices[0].vfs: VFs belong to host functions"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{}]}"), "devices[0].sfs[0].index: missing"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{\"index\":-1}]}"),
	 "devices[0].sfs[0].index: expected 0 to 4294967295"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{\"index\":4294967296}]}"),
	 "devices[0].sfs[0].index: expected 0 to"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{\"index\":1.5}]}"),
	 "devices[0].sfs[0].index: expected an integer"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":[{\"index\":1},{\"index\":1}]}"),
	 "devices[0].sfs[1].index: the same as devices[0].sfs[0].index"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"sfs\":3}"), "devices[0].sfs: expected an array, found int"},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"03:00.0\",\"vfs\":[{\"pci\":\"zz\"}]}"), "devices[0].vfs[0].pci: \"zz\" is not"},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"03:00.0\",\"vfs\":[[]]}"), "devices[0].vfs[0]: expected an object, found array"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"mac\":\"1:2\"}"), "devices[0].mac: \"1:2\" is not a MAC address"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"mac\":\"01:00:00:00:00:00\"}"),
	 "devices[0].mac: \"01:00:00:00:00:00\" is a multicast"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"ipv4\":\"1.2.3\"}"), "devices[0].ipv4: \"1.2.3\" is not an IPv4 address"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"ipv6\":\"::g\"}"), "devices[0].ipv6: \"::g\" is not an IPv6 address"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"rate_gbps\":0}"), "devices[0].rate_gbps: expected 1 to"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"engine_threads\":65}"), "devices[0].engine_threads: expected 0 to 64"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"engine_threads\":\"2\"}"), "devices[0].engine_threads: expected"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"uplink\":\"d/03:00.0\"}"), "devices[0].uplink: only a host's function"},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"03:00.0\",\"uplink\":\"d\"}"), "devices[0].uplink: expected NODE/PCI"},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"03:00.0\",\"uplink\":\"d/03:00.0\"}"),
	 "devices[0].uplink: no port of a DPU is at \"d/03:00.0\""},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"01:00.0\",\"uplink\":\"h/01:00.0\"}"), "devices[0].uplink: no port of a DPU"},
	{FILE_OF(PORT ",{\"node\":\"h\",\"pci\":\"01:00.0\",\"uplink\":\"d/"
		      "03:00.0\"},{\"node\":\"h\",\"pci\":\"02:00.0\",\"uplink\":\"d/03:00.0\"}"),
	 "devices[2].uplink: \"d/03:00.0\" is the uplink of devices[1] already"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"ibdev\":\"a\"},{\"node\":\"h\",\"pci\":\"03:00.0\",\"ibdev\":\"a\"}"),
	 "devices[1].ibdev: the same as devices[0].ibdev"},
	{FILE_OF("{\"node\":\"h\",\"pci\":\"03:00.0\",\"iface\":\"a\"},{\"node\":\"h\",\"pci\":\"03:00.1\",\"iface\":\"a\"}"),
	 "devices[1].iface: the same as devices[0].iface"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"mac\":\"02:00:00:00:00:01\"},{\"node\":\"h\",\"pci\":\"03:00.0\",\"mac\":"
		 "\"02:00:00:00:00:01\"}"),
	 "devices[1].mac: the same as devices[0].mac"},
	{FILE_OF("{\"node\":\"d\",\"pci\":\"03:00.0\",\"ipv4\":\"1.1.1.1\"},{\"node\":\"h\",\"pci\":\"03:00.0\",\"ipv4\":\"1.1.1."
		 "1\"}"),
	 "devices[1].ipv4: the same as devices[0].ipv4"},
	{"{\"nodes\":[" HOST "," DPU "],\"gpus\":[{\"node\":\"d\",\"pci\":\"01:00.0\"}]}", "gpus[0].node: \"d\" is a DPU"},
	{"{\"nodes\":[" HOST "],\"gpus\":[{\"node\":\"h\",\"pci\":\"01:00.0\"},{\"node\":\"h\",\"pci\":\"01:00.0\"}]}",
	 "gpus[1].pci: the same as gpus[0].pci"},
	{"{\"nodes\":[" HOST
	 "],\"devices\":[{\"node\":\"h\",\"pci\":\"01:00.0\"}],\"gpus\":[{\"node\":\"h\",\"pci\":\"01:00.0\"}]}",
	 "gpus[0].pci: the same as devices[0].pci"},
	{"{\"nodes\":[" HOST "],\"gpus\":[{\"node\":\"h\",\"pci\":\"01:00.0\",\"name\":\"\\u001b\"}]}",
	 "gpus[0].name: contains a control"},
};

static void mistakes_are_reported_with_their_place(void **state)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *m = &mistakes[i];
		struct sf_topology *t = NULL;
		char *message = NULL;

		assert_int_equal(sf_topology_parse(m->text, strlen(m->text), &t, &message), DOCA_ERROR_BAD_CONFIG);
		assert_null(t);
		assert_non_null(message);
		if (strncmp(message, m->reported, strlen(m->reported)))
			fail_msg("%s\n  reports:  %s\n  expected: %s", m->text, message, m->reported);
		free(message);
	}
}

static void the_uplinks_dpu_must_be_in_that_host(void **state)
{
	static const char text[] = "{\"nodes\":[" HOST "," DPU ",{\"name\":\"g\",\"kind\":\"host\"}],\"devices\":[" PORT
				   ",{\"node\":\"g\",\"pci\":\"01:00.0\",\"uplink\":\"d/03:00.0\"}]}";
	struct sf_topology *t;
	char *message;

	assert_int_equal(sf_topology_parse(text, strlen(text), &t, &message), DOCA_ERROR_BAD_CONFIG);
	assert_string_equal(message, "devices[1].uplink: the host of DPU \"d\" is h, not \"g\"");
	free(message);
}

static void too_many_devices_are_rejected(void **state)
{
	size_t room = 64 + 4 * (SF_TOPOLOGY_DEVICES_MAX + 1);
	char *text = malloc(room), *message;
	int len = snprintf(text, room, "{\"nodes\":[" HOST "],\"devices\":[{\"sfs\":[");
	struct sf_topology *t;

	for (int i = 0; i < SF_TOPOLOGY_DEVICES_MAX; i++)
		len += snprintf(text + len, room - (size_t)len, "%s{}", i ? "," : "");
	len += snprintf(text + len, room - (size_t)len, "]}]}");
	assert_int_equal(sf_topology_parse(text, (size_t)len, &t, &message), DOCA_ERROR_BAD_CONFIG);
	assert_string_equal(message, "devices: 1025 devices including VFs and SFs; at most 1024 are possible");
	free(message);
	free(text);
}

/* Nodes of different machines may each have an mlx5_0; of the nodes of one machine only one may. */
static void ibdev_names_repeat_only_on_other_machines(void **state)
{
	static const char format[] =
		"{\"nodes\":[{\"name\":\"a\",\"kind\":\"host\"%s},{\"name\":\"b\",\"kind\":\"host\"%s}],\"devices\":["
		"{\"node\":\"a\",\"pci\":\"01:00.0\",\"ibdev\":\"mlx5_0\"},{\"node\":\"b\",\"pci\":\"01:00.0\",\"ibdev\":\"mlx5_"
		"0\"}]}";
	char text[sizeof(format) + 80], *message;
	struct sf_topology *t;

	snprintf(text, sizeof(text), format, ",\"address\":\"10.0.0.1\"", ",\"address\":\"10.0.0.2\"");
	sf_topology_free(parse(text));
	snprintf(text, sizeof(text), format, "", "");
	assert_int_equal(sf_topology_parse(text, strlen(text), &t, &message), DOCA_ERROR_BAD_CONFIG);
	free(message);
}

/* ---- PCI addresses ---- */

static void pci_addresses_in_both_spellings(void **state)
{
	static const char *const wrong[] = {"",	       "03:00",	       "03:00.",     "03:00.8",	      "03:00.00",
					    "3:00.0",  "0003:00.0",    "00:03:00.0", "0000:03:00.0 ", " 03:00.0",
					    "03.00:0", "0000-03:00.0", "g3:00.0",    "00000:03:00.0", "0000:03:00.0x"};
	char addr[SF_PCI_ADDR_SIZE];

	assert_int_equal(sf_pci_addr_normalise("03:00.0", addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0000:03:00.0");
	assert_int_equal(sf_pci_addr_normalise("0001:AF:1D.7", addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0001:af:1d.7");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(sf_pci_addr_normalise(wrong[i], addr), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(addr, "0001:af:1d.7");
}

/* ---- the environment ---- */

static const struct sf_topology *get(void)
{
	const struct sf_topology *t = NULL;

	CHECK_OK(sf_topology_get(&t));
	CHECK(t != NULL);
	return t;
}

static void without_environment_body(void)
{
	unsetenv("SOFTFIELD_TOPOLOGY");
	unsetenv("SOFTFIELD_NODE");
	CHECK(get()->num_devices == 6);
	CHECK(get() == get());
	CHECK(get()->self == NULL);
	CHECK(sf_topology_sees(get(), &get()->nodes[0]) && sf_topology_sees(get(), &get()->nodes[1]));
}

static void node_of_the_process_body(void)
{
	setenv("SOFTFIELD_NODE", "dpu0", 1);
	CHECK(get()->self && !strcmp(get()->self->name, "dpu0"));
	CHECK(!sf_topology_sees(get(), &get()->nodes[0]) && sf_topology_sees(get(), &get()->nodes[1]));
}

static void unknown_node_body(void)
{
	const struct sf_topology *t;

	setenv("SOFTFIELD_NODE", "dpu7", 1);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_NOT_FOUND);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_NOT_FOUND);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void file_from_the_environment_body(void)
{
	char folder[] = "/tmp/softfield-topology-XXXXXX";

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	write_file("mine.json", "{\"nodes\":[{\"name\":\"near\",\"kind\":\"host\"},{\"name\":\"far\",\"kind\":\"host\","
				"\"address\":\"10.0.0.9\"}]}");
	setenv("SOFTFIELD_TOPOLOGY", "mine.json", 1); /* relative to the working directory */

	const struct sf_topology *t = get();

	CHECK(t->num_nodes == 2);
	CHECK(sf_topology_sees(t, &t->nodes[0]) && !sf_topology_sees(t, &t->nodes[1]));
	CHECK(unlink("mine.json") == 0 && rmdir(folder) == 0);
	CHECK(get() == t); /* read once */
}

static void unusable_files_body(void)
{
	char folder[] = "/tmp/softfield-topology-XXXXXX";
	const struct sf_topology *t;

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	setenv("SOFTFIELD_TOPOLOGY", "missing.json", 1);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_BAD_CONFIG);
	setenv("SOFTFIELD_TOPOLOGY", folder, 1);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_BAD_CONFIG);
	write_file("bad.json", "{\"nodes\":[{\"name\":\"a\"}]}");
	setenv("SOFTFIELD_TOPOLOGY", "bad.json", 1);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_BAD_CONFIG);
	CHECK(truncate("bad.json", SF_TOPOLOGY_TEXT_MAX + 1) == 0);
	CHECK(sf_topology_get(&t) == DOCA_ERROR_BAD_CONFIG);
	CHECK(unlink("bad.json") == 0 && rmdir(folder) == 0);
}

#define CHILD_TEST(name)                                                                                                         \
	static void name(void **state)                                                                                           \
	{                                                                                                                        \
		assert_int_equal(run_in_child(name##_body), 0);                                                                  \
	}

CHILD_TEST(without_environment)
CHILD_TEST(node_of_the_process)
CHILD_TEST(unknown_node)
CHILD_TEST(file_from_the_environment)
CHILD_TEST(unusable_files)

/* ---- real devices ---- */

static void write_below(const char *root, const char *path, const char *text)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	write_file(full, text);
}

static void real_devices_are_found_in_sysfs(void **state)
{
	struct sf_real_device found[SF_REAL_DEVICES_MAX];
	char root[] = "/tmp/softfield-sysfs-XXXXXX", link[256], command[64];

	assert_non_null(mkdtemp(root));
	assert_int_equal(sf_sysfs_gpus(root, found), 0);
	assert_int_equal(sf_sysfs_rdma(root, found), 0);

	write_below(root, "/sys/bus/pci/devices/0000:65:00.0/vendor", "0x10de\n");
	write_below(root, "/sys/bus/pci/devices/0000:65:00.0/class", "0x030200\n");
	write_below(root, "/sys/bus/pci/devices/0000:65:00.0/device", "0x2335\n");
	write_below(root, "/sys/bus/pci/devices/0000:65:00.1/vendor", "0x10de\n"); /* the card's sound device */
	write_below(root, "/sys/bus/pci/devices/0000:65:00.1/class", "0x040300\n");
	write_below(root, "/sys/bus/pci/devices/0000:01:00.0/vendor", "0x1a03\n"); /* a display of another vendor */
	write_below(root, "/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n");
	write_below(root, "/sys/bus/pci/devices/0000:b5:00.0/vendor", "0x10de\n");
	write_below(root, "/sys/bus/pci/devices/0000:b5:00.0/class", "0x030000\n");
	write_below(root, "/proc/driver/nvidia/gpus/0000:b5:00.0/information", "Model: \t\t NVIDIA Fast One\nIRQ: 7\n");
	assert_int_equal(sf_sysfs_gpus(root, found), 2);
	assert_string_equal(found[0].pci_addr, "0000:65:00.0");
	assert_string_equal(found[0].name, "NVIDIA device 2335");
	assert_string_equal(found[1].pci_addr, "0000:b5:00.0");
	assert_string_equal(found[1].name, "NVIDIA Fast One");

	write_below(root, "/sys/class/infiniband/mlx5_0/node_type", "1\n");
	write_below(root, "/sys/class/infiniband/rxe0/node_type", "1\n");
	snprintf(link, sizeof(link), "%s/sys/class/infiniband/mlx5_0/device", root);
	assert_int_equal(symlink("../../../0000:c1:00.0", link), 0);
	assert_int_equal(sf_sysfs_rdma(root, found), 2);
	assert_string_equal(found[0].name, "mlx5_0");
	assert_string_equal(found[0].pci_addr, "0000:c1:00.0");
	assert_string_equal(found[1].name, "rxe0");
	assert_string_equal(found[1].pci_addr, "");

	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_is_the_guides_machine),
		cmocka_unit_test(values_of_a_file_are_used),
		cmocka_unit_test(missing_names_are_generated),
		cmocka_unit_test(generated_properties_are_unique),
		cmocka_unit_test(a_generated_mac_differs_from_the_files),
		cmocka_unit_test(only_tls_false_means_without_tls),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(the_uplinks_dpu_must_be_in_that_host),
		cmocka_unit_test(too_many_devices_are_rejected),
		cmocka_unit_test(ibdev_names_repeat_only_on_other_machines),
		cmocka_unit_test(pci_addresses_in_both_spellings),
		cmocka_unit_test(without_environment),
		cmocka_unit_test(node_of_the_process),
		cmocka_unit_test(unknown_node),
		cmocka_unit_test(file_from_the_environment),
		cmocka_unit_test(unusable_files),
		cmocka_unit_test(real_devices_are_found_in_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
