/*
 * include/stat_names.h - every metric family an actor may have: S(ID, name, kind, help).
 *
 * Names of controller-runtime and client-go have their usual meaning, so existing dashboards work.
 */
#ifndef MUSTER_STAT_NAMES_H
#define MUSTER_STAT_NAMES_H

#define STATS(S)	/* ID, name, kind, help */						\
	S(RESYNC, "muster_resync_total", COUNTER, "Sessions started over, by link and reason.")	\
	S(SESSIONS, "muster_sessions", GAUGE, "Consumers with an open session, by link.")		\
	S(BUS_ITEMS, "muster_bus_items_total", COUNTER, "Items sent or taken, by link and direction.")	\
	S(BUS_FRAMES, "muster_bus_frames_total", COUNTER, "Frames sent or received, by link and direction.") \
	S(BUS_REJECTED, "muster_bus_rejected_total", COUNTER, "Frames refused, by link and reason.")	\
	S(BUS_AGAIN, "muster_bus_again_total", COUNTER,						\
	    "Sends refused by a full socket in spite of credit (a bug).")			\
	S(ASKED, "muster_asked_writes_total", COUNTER,					\
	    "Writes this actor asked for, by link, operation and outcome.")			\
	S(ASKED_TIME, "muster_asked_write_duration_seconds", HISTOGRAM,				\
	    "Time from asking for a write to its outcome, by link and operation.")		\
	S(KEYS, "muster_keys", GAUGE, "Keys held, by link and side (store or mirror).")			\
	S(TAP_SENT, "muster_tap_records_total", COUNTER, "Records copied for tap readers.")		\
	S(TAP_LOST, "muster_tap_lost_total", COUNTER, \
	    "Records lost to all tap readers because slow ones held too much memory.") \
	S(MAILBOX, "muster_actor_mailbox_depth", GAUGE, "Keys waiting for work in this actor.")		\
	S(LOOP_LAG, "muster_loop_lag_seconds", HISTOGRAM,					\
	    "How late the loop was for its own one-second timer.")				\
	S(WQ_DEPTH, "workqueue_depth", GAUGE, "Keys ready to be worked on.")				\
	S(WQ_ADDS, "workqueue_adds_total", COUNTER, "Keys added.")					\
	S(WQ_RETRIES, "workqueue_retries_total", COUNTER, "Keys put back after a failure.")		\
	S(WQ_QUEUE, "workqueue_queue_duration_seconds", HISTOGRAM, "Time a key waited before work began.") \
	S(WQ_WORK, "workqueue_work_duration_seconds", HISTOGRAM, "Time the work on a key took.")	\
	S(WQ_UNFINISHED, "workqueue_unfinished_work_seconds", GAUGE,				\
	    "Time of work in progress that is not yet counted.")				\
	S(WQ_LONGEST, "workqueue_longest_running_processor_seconds", GAUGE,			\
	    "Age of the oldest work in progress.")						\
	S(HTTP_REQUESTS, "rest_client_requests_total", COUNTER, "HTTP requests, by code, method and host.") \
	S(HTTP_DURATION, "rest_client_request_duration_seconds", HISTOGRAM,			\
	    "HTTP request time, by verb and host.")						\
	S(WATCH_EVENTS, "muster_watch_events_total", COUNTER, "Events of watches, by kind and type.")	\
	S(WATCH_RESTARTS, "muster_watch_restarts_total", COUNTER, "Watches begun, by kind and reason.")	\
	S(WATCH_ALARMS, "muster_watch_alarms_total", COUNTER,					\
	    "Watches that fell silent or stalled, by kind and reason.")	\
	S(RELISTS, "muster_relist_total", COUNTER, "Full lists begun, by kind and reason.")		\
	S(CACHE_OBJECTS, "muster_cache_objects", GAUGE, "Objects known of a kind.")			\
	S(SKIPPED_OBJECTS, "muster_skipped_objects", GAUGE,						\
	    "Objects that exist but cannot be read, so their consumers do not have them, by kind.")	\
	S(OBJECTS_SKIPPED, "muster_objects_skipped_total", COUNTER,					\
	    "Versions of objects that could not be read, by kind.")	\
	S(WRITES, "muster_writes_total", COUNTER, "Writes for other actors, by sender, verb and outcome.") \
	S(WRITE_DURATION, "muster_write_duration_seconds", HISTOGRAM,				\
	    "Time from an actor's request to its result, by verb.")				\
	S(EVENTS_DROPPED, "muster_events_dropped_total", COUNTER,				\
	    "Kubernetes Events given up: too many, or the server did not take them.")		\
	S(LEADER, "leader_election_master_status", GAUGE,					\
	    "1 while this instance leads, by name of the Lease.")	\
	S(LEADER_SLOW, "leader_election_slowpath_total", COUNTER,					\
	    "Renewals that had to read the Lease first.")	\
	S(OUE_EVAL_TIME, "oue_node_state_evaluation_duration_seconds", HISTOGRAM,		\
	    "Time one evaluation took, by node (label off: of all).")				\
	S(OUE_EVAL, "oue_node_state_evaluation_total", COUNTER, "Evaluations, by node and result.")	\
	S(OUE_NOTIFY, "oue_downstream_notification_duration_seconds", HISTOGRAM,		\
	    "Time from a change to its sending downstream, by type of consumer; per batch, of its oldest.") \
	S(OUE_ACTIVE, "oue_active_node_states", GAUGE, "Nodes that have a state.")			\
	S(CPU, "process_cpu_seconds_total", COUNTER, "User and system CPU time.")			\
	S(RSS, "process_resident_memory_bytes", GAUGE, "Resident memory.")				\
	S(FDS, "process_open_fds", GAUGE, "Open file descriptors.")					\
	S(FDS_MAX, "process_max_fds", GAUGE, "Limit of open file descriptors.")				\
	S(START, "process_start_time_seconds", GAUGE, "Start time since the Unix epoch.")

#endif
