/*
 * proto/messages.h - every message and every field: the one schema. Codecs, printer, schema hash
 * grow from it.
 *
 * BODIES are records: F(type, field). MESSAGES give a number and a body; MANY means a frame carries
 * one or more bodies (a batch), ONE exactly one. Numbers are never reused; a change of any line
 * here changes the schema hash, and peers of different hashes refuse each other at HELLO.
 *
 * Types: str, bin (views into the frame), u64, i64, f64, flag, nums (list of f64), map (text to text),
 * rows (records of text columns). Macros that take M or F rows end in `...`: a kind's row goes on with
 * where to find it (kinds.h).
 *
 * These types decide what the printer and the tap show (redact.c):
 *	secret		bin that is never shown
 *	resource	str: the Kubernetes resource of the `object` fields after it in the same body
 *	object		str: an object as JSON; shown unless its resource is `secrets` or not named
 *	number		u64: number of the message that the `value` field after it holds
 *	value		bin: a packed body of that message; what is secret in it is not shown
 */
#ifndef MUSTER_MESSAGES_H
#define MUSTER_MESSAGES_H

#include "kinds.h"

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/messages.def"
#else
#define TEST_BODIES(B)
#define TEST_MESSAGES(M)
#endif

#define BODIES(B)	B(hello) B(snap_begin) B(item) B(snap_end) B(ack) B(beat) B(close) B(tap)	\
			B(write) B(result) B(stat) B(kind) B(leader) B(raw)		\
			B(node_state) B(pool_state) B(node_fact) KIND_BODIES(B) TEST_BODIES(B)

#define MESSAGES(M)	/* ID, body, number, bodies per frame */			\
	/* the session protocol, the same on every link (session.h) */			\
	M(HELLO,      hello,      0x0001, ONE)	/* consumer: identity and token */		\
	M(SNAP_BEGIN, snap_begin, 0x0002, ONE)	/* producer: a snapshot follows */	\
	M(SNAP_ITEMS, item,       0x0003, MANY)						\
	M(SNAP_END,   snap_end,   0x0004, ONE)	/* producer: what was not named is gone */ \
	M(DELTA,      item,       0x0005, MANY)						\
	M(ACK,        ack,        0x0006, ONE)	/* consumer: received up to here, send so many more */ \
	M(BEAT,       beat,       0x0007, ONE)	/* producer: alive, what it has sent so far */ \
	M(CLOSE,      close,      0x0008, ONE)	/* producer: this session is over, send HELLO */ \
	/* writes: inside a consumer's session, outside its numbers and credit; gone with its epoch */	\
	M(WRITE,        write,  0x000a, ONE)	/* consumer: do this */			\
	M(RESULT_ITEMS, item,   0x000b, MANY)	/* producer: objects of the answer; seq is the id */ \
	M(RESULT,       result, 0x000c, ONE)	/* producer: this is how it ended */	\
	/* the tap: not on any link, second part of a tap record (tap.h) */		\
	M(TAP,        tap,        0x0009, ONE)						\
	/* values: what an item may carry, per link (links.h) */			\
	M(STAT,       stat,       0x0101, ONE)	/* one metric series */			\
	M(KIND,       kind,       0x0102, ONE)	/* how one kind stands */		\
	M(LEADER,     leader,     0x0103, ONE)	/* who may write, until when */		\
	M(RAW,        raw,        0x0104, ONE)	/* an object without a projection, as JSON */ \
	M(NODE_STATE, node_state, 0x0105, ONE)	/* how far the update of one node is */	\
	M(POOL_STATE, pool_state, 0x0106, ONE)	/* the same of one pool, from its nodes */ \
	M(NODE_FACT,  node_fact,  0x0107, ONE)	/* what claimers read of a node */ \
	KINDS(M)				/* objects: kinds.h */			\
	TEST_MESSAGES(M)

#define hello_FIELDS(F)		F(str, role) F(u64, incarnation) F(secret, token) F(u64, schema)	\
				F(u64, window) F(u64, nonce)
#define snap_begin_FIELDS(F)	F(u64, nonce)
/*
 * version: the producer's counter of changes, so that beats can compare what both ends hold. rv:
 * where the value came from.
 */
#define item_FIELDS(F)		F(str, key) F(str, uid) F(str, rv) F(u64, version) F(u64, trace)	\
				F(flag, gone) F(number, type) F(value, value)
#define snap_end_FIELDS(F)	F(u64, count)
#define ack_FIELDS(F)		F(u64, credit)
/*
 * ready: there is a complete snapshot. exact: everything was sent, so count and hash (link_store.h) are
 * what the consumer must hold.
 */
#define beat_FIELDS(F)		F(u64, nonce) F(flag, ready) F(flag, exact) F(u64, count) F(u64, hash)
#define close_FIELDS(F)		F(u64, nonce) F(str, reason)
/*
 * seq counts the records of one topic of one incarnation; a hole is what a slow reader lost.
 * time_us: wall clock.
 */
#define tap_FIELDS(F)		F(u64, seq) F(i64, time_us) F(u64, incarnation) F(str, peer)
/*
 * kind: enum stat_kind. buckets (histograms): bound, count, bound, count ...; value is then the sum
 * of observations.
 */
#define stat_FIELDS(F)		F(str, family) F(u64, kind) F(str, help) F(str, labels) F(f64, value)	\
				F(u64, count) F(nums, buckets)

/*
 * op: enum op. deadline_ms: of clock_mono_ms, after it the write is not sent any more. uid, rv:
 * preconditions, or "". version: of the body, "" for the one that discovery chose. labels, fields:
 * selectors of a list. body: JSON; of a deletion or an eviction {"gracePeriodSeconds": N}, or "" for the
 * object's own.
 */
#define write_FIELDS(F)		F(u64, id) F(u64, op) F(str, group) F(str, version) F(resource, resource) \
				F(str, ns) F(str, name) F(str, subresource) F(str, uid) F(str, rv) \
				F(str, labels) F(str, fields) F(i64, deadline_ms) F(object, body)
/*
 * outcome: enum outcome. status: of HTTP, 0 when none came. rv: of the object after the write (or
 * of the list). causes: one per line, "field: message". items: how many RESULT_ITEMS came before
 * it. skipped: objects of the answer that are not among them, because they cannot be read or are too large;
 * message then names the first.
 */
#define result_FIELDS(F)	F(u64, id) F(u64, outcome) F(u64, status) F(str, reason) F(str, message) \
				F(str, causes) F(str, rv) F(i64, retry_after_ms) F(u64, items) F(u64, skipped)
/*
 * Key ":kind/<resource>". state: enum kind_state (kinds.h). A kind whose CRD is not installed is
 * `absent`: its consumers run without it, and it is listed as soon as it appears. skipped: objects
 * that exist but cannot be read, so they have no key (docs/kubernetes.md); while there are any, a
 * missing key does not prove that its object is gone. detail: why it is not synced; of a synced kind
 * which objects are skipped.
 */
#define kind_FIELDS(F)		F(str, group) F(str, resource) F(str, version) F(u64, state) F(str, detail) \
				F(u64, skipped)
/*
 * Key ":leader". until_ms: of clock_mono_ms; leading ends there unless renewed. term:
 * leaseTransitions. clean: the one before released the Lease, so nothing of it can be under way.
 * since_ms: when we took it. cluster_ms: cluster time less clock_mono_ms (cluster_clock.h), with or without
 * election; 0: not known yet.
 */
#define leader_FIELDS(F)	F(flag, leading) F(str, identity) F(str, holder) F(u64, term)	\
				F(i64, since_ms) F(i64, until_ms) F(flag, clean) F(i64, cluster_ms)
#define raw_FIELDS(F)		F(resource, resource) F(object, json)
/*
 * Key "nodes/<name>", only for nodes that a pool owns; gone when none does any more. Texts are those
 * of the NodeProgressInsight. conditions: type, status, reason, message, since (RFC 3339 where the
 * cause has it, else ""). rule: which line of the assessment matched. reason: what caused the evaluation
 * (enum cause). evaluated_us: wall clock. evaluations: of this node since the start. These three do
 * not make a change by themselves.
 */
#define node_state_FIELDS(F)	F(str, pool) F(str, scope) F(str, version) F(str, target)	\
				F(str, current) F(str, desired) F(str, phase) F(str, estimate)	\
				F(str, message) F(rows, conditions) F(str, rule) F(str, reason)	\
				F(i64, evaluated_us) F(u64, evaluations)
/*
 * Key "machineconfigpools/<name>". summaries: type, count. conditions: as above. reason and evaluated_us do
 * not make a change by themselves.
 */
#define pool_state_FIELDS(F)	F(str, scope) F(flag, paused) F(str, target) F(str, assessment)	\
				F(i64, percent) F(rows, summaries) F(rows, conditions) F(str, reason)	\
				F(i64, evaluated_us)
/* Key "nodes/<name>", for every node. addresses: type, address. taints: key, value, effect. */
#define node_fact_FIELDS(F)	F(str, provider_id) F(str, hostname) F(rows, addresses) F(flag, ready)	\
				F(flag, unschedulable) F(str, deleted) F(map, labels) F(rows, taints)

#endif
