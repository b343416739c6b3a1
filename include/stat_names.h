/*
 * include/stat_names.h - every metric family an actor may have: S(ID, name, kind, help).
 *
 * Names that Kubernetes people have dashboards for are used with their usual meaning (perf-ux.md section 4).
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
	S(KEYS, "muster_keys", GAUGE, "Keys held, by link and side (store or mirror).")			\
	S(TAP_SENT, "muster_tap_records_total", COUNTER, "Records copied for tap readers.")		\
	S(TAP_LOST, "muster_tap_lost_total", COUNTER, "Records not copied because a tap reader was slow.") \
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
	S(CPU, "process_cpu_seconds_total", COUNTER, "User and system CPU time.")			\
	S(RSS, "process_resident_memory_bytes", GAUGE, "Resident memory.")				\
	S(FDS, "process_open_fds", GAUGE, "Open file descriptors.")					\
	S(FDS_MAX, "process_max_fds", GAUGE, "Limit of open file descriptors.")				\
	S(START, "process_start_time_seconds", GAUGE, "Start time since the Unix epoch.")

#endif
