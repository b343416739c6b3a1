/*
 * tests/unit/test_vpsie_discover.c - the matching of machines, Nodes and VPSieNodes: D4, D5, D9, D10, D11,
 * D13, D18, D20 to D23, M1, M2, M4, scenarios of 12.2, and the defects 1, 2, 3 and 5 of the original.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/discover.h"
#include "obj.h"
#include "vpsie_words.h"

/*
 * want, for each VPSieNode: "machine:rule/Node:match"; "-": none. why: what discover_explain answers for
 * the VPSieNode 0 and each machine.
 */
static const struct row {
	const char *name, *vpsienodes, *machines, *facts, *groups, *want, *why;
} rows[] = {
	/* Names */
	{ "D4 12.2 discovered by hostname pattern", "d/web-1 waits req=100", "host=web-1-k8s id=5 at=110", "", "", "0:name/-", "name" },
	{ "D4 case does not count", "d/web-1 waits req=100", "host=WEB-1-K8S id=5 at=110", "", "", "0:name/-", "name" },
	{ "12.2 several candidates: the newest", "d/web-1 waits req=100",
	    "host=web-1-a id=5 at=110;host=web-1-b id=6 at=120", "", "",
	    "1:name/-", "free name" },
	{ "D23 the longest name owns the machine", "d/web-1 waits req=90;d/web-10 waits req=95",
	    "host=web-10-x id=5 at=110;host=web-1-y id=6 at=105", "", "", "1:name/- 0:name/-", "bound name" },
	{ "D23 ... also when its owner has another machine", "d/web-1 waits req=90;d/web-10 id=9",
	    "host=web-10-x id=5 at=110 c=c1;host=web-10-z id=9 at=80", "", "", "-/- 1:has/-",
	    "other-name bound" },
	{ "D13 equal names in two namespaces: one machine each",
	    "b/web-1 waits req=100;a/web-1 waits req=100",
	    "host=web-1-x id=5 at=110;host=web-1-y id=6 at=111", "", "", "0:name/- 1:name/-", "name bound" },
	{ "D13 equal names, one machine: the first request", "a/web-1 waits req=101;b/web-1 waits req=100",
	    "host=web-1-x id=5 at=110", "", "", "-/- 0:name/-", "bound" },
	{ "defect 5: a named machine that another VPSieNode has", "d/web waits req=100;d/old id=5",
	    "host=web-1-x id=5 at=110", "", "", "-/- 0:has/-", "bound" },
	{ "D23 a named machine that is older than the request", "d/web-1 waits req=100",
	    "host=web-1-x id=5 at=50", "", "", "-/-", "older" },
	{ "D23 the provider's clock is behind by less than the allowance", "d/web-1 waits req=100",
	    "host=web-1-x id=5 at=96", "", "",
	    "0:name/-", "name" },
	{ "D4 a named machine without a time", "d/web-1 waits req=100", "host=web-1-x id=5", "", "", "0:name/-", "name" },
	{ "D11 one that does not run yet is kept for the first request",
	    "d/a waits req=100 newest=90;d/b waits req=110 newest=101 before=u1",
	    "uuid=u1 host=w1 at=101 st=provisioning c=c1;uuid=u2 host=w2 at=111 c=c1", "", "",
	    "-/- 1:order/-", "not-running bound" },
	{ "D11 a machine that does not run", "d/web-1 waits req=100", "host=web-1-x id=5 at=110 st=stopped", "", "", "-/-", "not-running" },
	{ "D11 running in capitals", "d/web-1 waits req=100", "host=web-1-x id=5 at=110 st=Running", "", "", "0:name/-", "name" },
	{ "a deleted machine", "d/web-1 waits req=100", "host=web-1-x id=5 at=110 deleted", "", "", "-/-", "deleted" },
	{ "a hostname that is shorter than the name", "d/web-1 waits req=100", "host=web id=5 at=110", "", "", "-/-", "not-listed" },

	/* Addresses of Nodes */
	{ "D5 12.2 M1 M4 discovered by the address of an unclaimed Node", "d/web-1 waits req=100",
	    "uuid=u5 host=k8s-worker ip=10.0.0.5 at=110 c=c1", "n1 ip=10.0.0.5", "", "0:node/0:address",
	    "node" },
	{ "D5 a machine with a Node before one without", "d/web-1 waits req=100",
	    "uuid=u4 at=105 c=c1;uuid=u5 private=10.0.0.5 at=110 c=c1", "n1 ip=10.0.0.5", "",
	    "1:node/0:address", "free node" },
	{ "defect 3: a Node that a human added, in no list of the cluster", "d/web-1 waits req=100",
	    "id=7 host=mine ip=10.0.0.9 at=110", "n1 ip=10.0.0.9", "", "-/-", "not-listed" },
	{ "defect 3: the newest Node is not taken for itself", "d/web-1 waits req=100", "", "n1 ip=10.0.0.9", "", "-/-", "" },
	{ "defect 2: no plain VM runs, the worker is in the cluster's list only", "d/web-1 waits req=100",
	    "uuid=u5 nodeip=10.0.0.5 at=110 c=c1", "n1 ip=10.0.0.5", "", "0:node/0:address", "node" },
	{ "D11 its Node is labelled for another", "d/web-1 waits req=100;d/web-2 id=9",
	    "uuid=u5 ip=10.0.0.5 at=110 c=c1",
	    "n1 ip=10.0.0.5 claim=web-2 ns=d", "", "-/- -/0:label", "node-bound" },
	{ "defect 5: its Node is another's by nodeName, without a label",
	    "d/web-1 waits req=100;d/web-2 id=9 node=n1",
	    "uuid=u5 ip=10.0.0.5 at=110 c=c1", "n1 ip=10.0.0.5", "", "-/- -/0:name", "node-bound" },
	{ "a Node labelled for a VPSieNode that is gone", "d/web-1 waits req=100",
	    "uuid=u5 ip=10.0.0.5 at=110 c=c1",
	    "n1 ip=10.0.0.5 claim=web-0 ns=d", "", "-/-", "node-bound" },
	{ "a machine of the control plane, by its Node", "d/web-1 waits req=100",
	    "uuid=u5 ip=10.0.0.5 at=110 c=c1",
	    "n1 ip=10.0.0.5 cp", "", "-/-", "control-plane" },
	{ "a machine of the control plane, by its role", "d/web-1 waits req=100",
	    "uuid=u5 at=110 c=c1 master", "", "", "-/-", "control-plane" },
	{ "defect 5: bound by UUID", "d/web-1 waits req=100;d/web-2 uuid=u5",
	    "uuid=U5 ip=10.0.0.5 at=110 c=c1", "n1 ip=10.0.0.5", "",
	    "-/- 0:has/-", "bound" },
	{ "two VPSieNodes have one machine", "d/web-1 waits req=100;d/a id=5;d/b uuid=u5",
	    "uuid=u5 id=5 at=110 c=c1", "", "",
	    "-/- -/- 0:has/-", "disputed" },

	/* Order */
	{ "D11 first requested, first created", "d/a waits req=101;d/b waits req=100",
	    "uuid=u1 at=120 c=c1;uuid=u2 at=110 c=c1", "", "",
	    "0:order/- 1:order/-", "order bound" },
	{ "D9 four at once", "d/a waits req=100;d/b waits req=100;e/a waits req=100;d/c waits req=99",
	    "uuid=u1 at=113 c=c1;uuid=u2 at=112 c=c1;uuid=u3 at=111 c=c1;uuid=u4 at=110 c=c1", "", "",
	    "2:order/- 1:order/- 0:order/- 3:order/-", "bound bound order bound" },
	{ "12.2 no candidate: it goes on waiting", "d/a waits req=100", "", "", "", "-/-", "" },
	{ "D11 a slow machine goes to the request that may still have it",
	    "d/a waits req=100 newest=90;d/b waits req=140 newest=130",
	    "uuid=u2 at=150 c=c1", "", "", "-/- 0:order/-", "bound" },
	{ "D11 ... when it comes at last", "d/a waits req=100 newest=90;d/b waits req=140 newest=130 uuid=u2",
	    "uuid=u2 at=150 c=c1;uuid=u1 at=101 c=c1", "", "", "1:order/- 0:has/-", "bound order" },
	{ "D11 ... also when it was ordered long before: it was not there at the request",
	    "d/a waits req=100 before=u0 uuid=u2;d/b waits req=900 before=u0",
	    "uuid=u2 at=950 c=c1;uuid=u1 at=101 c=c1", "", "", "0:has/- 1:order/-", "has bound" },
	{ "D11 no machine left for the second", "d/a waits req=100;d/b waits req=101",
	    "uuid=u1 at=120 c=c1", "", "", "0:order/- -/-", "order" },
	{ "D23 older than the request", "d/a waits req=100", "uuid=u1 at=80 c=c1", "", "", "-/-", "older" },
	{ "D10 not newer than the group was then", "d/a waits req=100 newest=100", "uuid=u1 at=100 c=c1", "", "", "-/-", "older" },
	{ "D10 newer than the group was then", "d/a waits req=100 newest=99", "uuid=u1 at=100 c=c1", "", "", "0:order/-", "order" },
	{ "D10 the same second, and it was not there", "d/a waits req=100 newest=100 before=u0",
	    "uuid=u1 at=100 c=c1", "", "", "0:order/-", "order" },
	{ "D10 it was there before the request", "d/a waits req=100 before=u0+u1", "uuid=u1 at=120 c=c1", "", "", "-/-", "existed" },
	{ "D10 without UUID the hostname counts", "d/a waits req=100 before=worker-7", "host=worker-7 c=c1", "", "", "-/-", "existed" },
	{ "D10 no time, and it was not there", "d/a waits req=100 before=u0", "uuid=u1 c=c1", "", "", "0:order/-", "order" },
	{ "D11 neither id nor UUID: by order", "d/a waits req=100", "host=k8s-7 at=120 c=c1", "", "", "-/-",
	    "unidentified" },
	{ "D11 neither id nor UUID: by name", "d/web-1 waits req=100", "host=web-1-x at=120 c=c1", "", "",
	    "-/-", "unidentified" },
	{ "D22 no time and no list of what was there", "d/a waits req=100", "uuid=u1 c=c1", "", "", "-/-", "undated" },
	{ "D22 the annotation without our watermark, no createdAt", "d/a waits", "uuid=u1 at=120 c=c1", "", "", "-/-", "undated" },
	{ "D22 a later request shows more than an earlier one",
	    "d/a waits req=90;d/b waits req=100 before=u0", "uuid=u1 c=c1", "", "",
	    "-/- 0:order/-", "bound" },
	{ "D11 a named machine is not given by order", "d/a waits req=100;d/web-1 id=9",
	    "host=web-1-x uuid=u1 at=120 c=c1;id=9", "", "",
	    "-/- 1:has/-", "other-name bound" },
	{ "another cluster", "d/a waits req=100", "uuid=u1 at=120 c=c2", "", "", "-/-", "other-cluster" },
	{ "two clusters", "d/a waits req=100 c=c2;d/b waits req=101",
	    "uuid=u1 at=110 c=c1;uuid=u2 at=111 c=c2", "", "", "1:order/- 0:order/-",
	    "bound order" },
	{ "D20 another datacenter by UUID", "d/a waits req=100 dc=d1", "uuid=u1 at=120 c=c1 dc=d2", "", "", "-/-", "other-datacenter" },
	{ "D20 another datacenter by number", "d/a waits req=100 dc=5", "uuid=u1 at=120 c=c1 dcid=6", "", "", "-/-", "other-datacenter" },
	{ "D20 forms that cannot be compared", "d/a waits req=100 dc=5", "uuid=u1 at=120 c=c1 dc=d2", "", "", "0:order/-", "order" },
	{ "D23 the datacenter of the group", "d/a waits req=100 g=0", "uuid=u1 at=120 c=c1 dcid=6", "",
	    "dcid=5", "-/-", "other-datacenter" },
	{ "D23 the size of the group", "d/a waits req=100 g=0", "uuid=u1 at=120 c=c1 size=3", "", "size=2", "-/-", "other-size" },
	{ "D23 cpu and memory where there is no size", "d/a waits req=100 g=0",
	    "uuid=u1 at=120 c=c1 cpu=2 ram=4096", "",
	    "cpu=2 ram=8192", "-/-", "other-size" },
	{ "D23 two groups: each its own size", "d/a waits req=100 g=0;d/b waits req=101 g=1",
	    "uuid=u1 at=110 c=c1 size=2;uuid=u2 at=111 c=c1 size=1", "", "size=1;size=2",
	    "1:order/- 0:order/-", "bound order" },
	/* Those that are being deleted, or that failed */
	{ "A2 D16 one that failed gets the machine of its request", "d/a late req=100 until=900",
	    "uuid=u1 at=120 c=c1", "", "", "0:order/-", "order" },
	{ "A2 D16 ... not what was made when its time was over", "d/a late req=100 until=900",
	    "uuid=u1 at=906 c=c1", "", "", "-/-", "too-late" },
	{ "A2 D16 ... nor what has no time", "d/a late req=100 until=900 before=u0", "uuid=u1 c=c1", "", "",
	    "-/-", "too-late" },
	{ "A2 D16 ... but before it is over", "d/a late req=100 before=u0",
	    "uuid=u1 c=c1", "", "", "0:order/-", "order" },
	{ "A2 D16 ... and by its name at any time", "d/web-1 late req=100 until=900",
	    "host=web-1-x uuid=u1 at=906", "", "", "0:name/-", "name" },
	{ "D11 D23 one that is deleted takes nothing from one that waits",
	    "d/a late req=100;d/b waits req=110", "uuid=u1 at=120 c=c1", "", "", "-/- 0:order/-", "bound" },
	{ "D11 D23 ... of another group of equal size and datacenter",
	    "d/a late req=100 g=0;d/b waits req=110 g=1", "uuid=u1 at=120 c=c1 size=2 dcid=5", "",
	    "size=2 dcid=5;size=2 dcid=5", "-/- 0:order/-", "bound" },
	{ "D11 D23 ... nor its Node", "d/a late req=100;d/b waits req=110", "uuid=u1 ip=10.0.0.5 at=120 c=c1",
	    "n1 ip=10.0.0.5", "", "-/- 0:node/0:address", "bound" },
	{ "D11 D23 ... and the next machine is its own", "d/a late req=100;d/b waits req=110",
	    "uuid=u1 at=120 c=c1;uuid=u2 at=130 c=c1", "", "", "1:order/- 0:order/-", "bound order" },
	{ "D13 D23 equal names: not from the one that waits", "d/web-1 late req=100;e/web-1 waits req=110",
	    "host=web-1-x id=5 at=120", "", "", "-/- 0:name/-", "bound" },
	{ "D10 D11 a machine is kept for a request that is on its way",
	    "d/a late req=100;d/b unsent req=110", "uuid=u1 at=120 c=c1", "", "", "-/- -/-", "kept" },
	{ "D10 D11 ... and one that waits gets it all the same", "d/a waits req=100;d/b unsent req=90",
	    "uuid=u1 at=120 c=c1", "", "", "0:order/- -/-", "order" },
	{ "D10 D22 one that is not sent, by its address", "d/a unsent req=100 ip=10.0.0.5",
	    "uuid=u1 ip=10.0.0.5 at=120 c=c1", "", "", "0:address/-", "address" },
	{ "D15 not waiting: nothing is given", "d/a req=100", "uuid=u1 at=120 c=c1", "", "", "-/-", "not-waiting" },

	/* Objects of the original */
	{ "D22 id 0, an address: its machine", "d/a ip=10.0.0.5", "uuid=u1 ip=10.0.0.5 at=10 c=c1",
	    "n1 ip=10.0.0.5", "", "0:address/-", "address" },
	{ "D22 id 0, its Node is labelled", "d/a", "uuid=u1 private=10.0.0.5 at=10 c=c1",
	    "n1 ip=10.0.0.5 claim=a", "", "0:address/0:label", "address" },
	{ "D22 id 0, a hostname and no address", "d/a host=w1", "uuid=u1 host=W1 at=10 c=c1", "", "", "0:address/-", "address" },
	{ "D22 an address that has passed to another's machine", "d/a ip=10.0.0.5;d/b uuid=u1",
	    "uuid=u1 ip=10.0.0.5 at=10 c=c1", "", "",
	    "-/- 0:has/-", "bound" },
	{ "D22 two machines have its address: the first", "d/a ip=10.0.0.5",
	    "uuid=u1 ip=10.0.0.5 c=c1;uuid=u2 ip=10.0.0.5 c=c1", "", "",
	    "0:address/-", "address undated" },
	{ "D22 its machine is deleted", "d/a ip=10.0.0.5", "uuid=u1 ip=10.0.0.5 deleted", "", "", "-/-", "deleted" },
	{ "D18 a known id is not searched for", "d/a waits id=5", "id=5 at=10;uuid=u1 at=120 c=c1", "", "", "0:has/-", "has undated" },

	{ "D18 a known id that is in no list gets no other machine", "d/web-1 waits req=100 id=5",
	    "host=web-1-x id=6 at=110", "", "", "-/-",
	    "not-waiting" },

	/* Nodes */
	{ "M1 D20 by address", "d/a seeks uuid=u1 ip=10.0.0.5", "", "n1 ip=10.0.0.4+10.0.0.5", "", "-/0:address", "" },
	{ "M1 D20 by an address of its machine", "d/a seeks uuid=u1", "uuid=u1 private=10.0.0.5",
	    "n1 ip=10.0.0.5", "", "0:has/0:address", "has" },
	{ "D20 by IPv6", "d/a seeks uuid=u1 ip6=fd00::5", "", "n1 ip=FD00::5", "", "-/0:address", "" },
	{ "D20 by nodeName", "d/a seeks uuid=u1 ip=10.0.0.5 node=n1", "", "n1 ip=10.0.0.7", "", "-/0:name", "" },
	{ "M2 D20 by hostname", "d/a seeks uuid=u1 host=W1", "", "n1 host=w1", "", "-/0:hostname", "" },
	{ "M2 the hostname is the Node's name", "d/a seeks uuid=u1 host=w1", "", "w1", "", "-/0:hostname", "" },
	{ "M2 the hostname of its machine", "d/a seeks uuid=u1", "uuid=u1 host=w1", "n1 host=w1", "", "0:has/0:hostname", "has" },
	{ "M1 the address goes before the hostname", "d/a seeks uuid=u1 ip=10.0.0.5 host=w1", "",
	    "n1 host=w1;n2 ip=10.0.0.5", "",
	    "-/1:address", "" },
	{ "12.2 not joined yet", "d/a seeks uuid=u1 ip=10.0.0.5", "", "n1 ip=10.0.0.6", "", "-/-", "" },
	{ "D20 the Node came after the list: another machine of its hostname may be missing there",
	    "d/a seeks uuid=u1 host=w1", "", "n1 host=w1 newer", "", "-/-", "" },
	{ "M1 ... an address identifies it", "d/a seeks uuid=u1 host=w1 ip=10.0.0.5", "",
	    "n1 host=w1 ip=10.0.0.5 newer", "", "-/0:address", "" },
	{ "duplicate hostnames of Nodes", "d/a seeks uuid=u1 host=w1", "", "n1 host=w1;n2 host=w1", "", "-/-", "" },
	{ "D20 duplicate hostnames of machines", "d/a seeks uuid=u1 host=w1",
	    "uuid=u1 host=w1 c=c1;uuid=u2 host=w1 c=c1", "n1 host=w1", "", "0:has/-", "has undated" },
	{ "D20 a VM and a worker with one hostname may be one machine", "d/a seeks id=5 host=w1",
	    "id=5 host=w1 ip=10.0.0.8;uuid=u1 host=w1 nodeip=10.0.0.9 c=c1", "n1 host=w1", "",
	    "0:has/0:hostname", "has undated" },
	{ "duplicate hostnames of VPSieNodes", "d/a seeks uuid=u1 host=w1;d/b seeks uuid=u2 host=w1", "", "n1 host=w1", "", "-/- -/-", "" },
	{ "... and one of them has a better match",
	    "d/a seeks uuid=u1 host=w1;d/b seeks uuid=u2 host=w1 ip=10.0.0.5", "",
	    "n1 host=w1;n2 ip=10.0.0.5", "", "-/0:hostname -/1:address", "" },
	{ "defect 1: a Node that is labelled for another", "d/a seeks uuid=u1 ip=10.0.0.5;d/b uuid=u2",
	    "", "n1 ip=10.0.0.5 claim=b ns=d", "",
	    "-/- -/0:label", "" },
	{ "D13 a label of the same name in another namespace",
	    "d/a seeks uuid=u1 ip=10.0.0.5;e/a uuid=u2", "",
	    "n1 ip=10.0.0.5 claim=a ns=e", "", "-/- -/0:label", "" },
	{ "D13 a label of an earlier object of that name", "d/a seeks uuid=u1 ip=10.0.0.5 uid=x2", "",
	    "n1 ip=10.0.0.5 claim=a ns=d uid=x1", "",
	    "-/-", "" },
	{ "D22 a label without a namespace, two VPSieNodes: neither",
	    "d/a seeks uuid=u1 ip=10.0.0.5;e/a uuid=u2", "",
	    "n1 ip=10.0.0.5 claim=a", "", "-/- -/-", "" },
	{ "D13 two Nodes labelled for one: the first", "d/a uuid=u1", "", "n1 claim=a ns=d;n2 claim=a ns=d", "", "-/0:label", "" },
	{ "a Node of the control plane", "d/a seeks uuid=u1 ip=10.0.0.5", "", "n1 ip=10.0.0.5 cp", "", "-/-", "" },
	{ "a Node that is being deleted", "d/a seeks uuid=u1 ip=10.0.0.5", "", "n1 ip=10.0.0.5 deleting", "", "-/-", "" },
	{ "two VPSieNodes with one address: the first request",
	    "d/a seeks uuid=u1 ip=10.0.0.5 req=9;d/b seeks uuid=u2 ip=10.0.0.5 req=8", "",
	    "n1 ip=10.0.0.5", "", "-/- -/0:address", "" },
	{ "D21 a Node by nodeName stays where labels were removed",
	    "d/a uuid=u1 node=n1;d/b seeks uuid=u2 ip=10.0.0.5", "",
	    "n1 ip=10.0.0.5", "", "-/0:name -/-", "" },
	{ "nothing at all", "", "", "", "", "", "" },
};

static void
print_matches(const struct world *w, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < w->in.nvpsienodes; i++) {
		const struct discover_match *const m = &w->out.matches[i];
		char machine[64] = "-", fact[64] = "-";

		if (m->machine != DISCOVER_NONE)
			snprintf(machine, sizeof(machine), "%u:%s", m->machine, discover_reason_name(m->how));
		if (m->fact != DISCOVER_NONE)
			snprintf(fact, sizeof(fact), "%u:%s", m->fact, node_match_name(m->node_how));
		len += (size_t)snprintf(buf + len, size - len, "%s%s/%s", i > 0 ? " " : "", machine, fact);
	}
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct world *const w = world_new(r->vpsienodes, r->machines, r->facts, r->groups);
	char got[2048], why[1024] = "";
	size_t len = 0;

	/* No result depends on the seed. */
	for (uint64_t seed = 0; seed < 3; seed++) {
		w->in.seed = seed * 0x9e3779b97f4a7c15u;
		world_match(w);
		print_matches(w, got, sizeof(got));
		assert_string_equal(got, r->want);
	}
	for (uint32_t i = 0; i < w->in.nmachines && w->in.nvpsienodes > 0; i++) {
		const enum discover_reason reason = discover_explain(&w->in, &w->out, 0, i);

		assert_int_equal(discover_reason_taken(reason), w->out.matches[0].machine == i);
		assert_true(strlen(discover_reason_text(reason)) > 5);
		len += (size_t)snprintf(
		    why + len, sizeof(why) - len, "%s%s", i > 0 ? " " : "", discover_reason_name(reason));
	}
	assert_string_equal(why, r->why);
	world_free(w);
}

static void
names_have_bounds(void **state)
{
	(void)state;
	assert_string_equal(discover_reason_name(DISCOVER_REASON_MAX), "?");
	assert_string_equal(discover_reason_text(DISCOVER_REASON_MAX), "?");
	assert_false(discover_reason_taken(DISCOVER_REASON_MAX));
	assert_string_equal(node_match_name(NODE_MATCH_MAX), "?");
	assert_string_equal(node_match_name(NODE_MATCH_NONE), "none");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){
			rows[i].name, check_row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(names_have_bounds);
	return _cmocka_run_group_tests("vpsie_discover", tests, NITEMS(tests), NULL, NULL);
}
