/*
 * include/stat_names.h - every metric family an actor may have: S(ID, name, kind, help).
 *
 * Names of controller-runtime and client-go have their usual meaning, so existing dashboards work.
 */
#ifndef MUSTER_STAT_NAMES_H
#define MUSTER_STAT_NAMES_H

#define STATS(S)	/* ID, name, kind, help */						\
	S(RESYNC, "muster_resync_total", COUNTER, \
	    "Sessions that were opened again, by link and reason.") \
	S(SESSIONS, "muster_sessions", GAUGE, "Consumers with an open session, by link.") \
	S(BUS_ITEMS, "muster_bus_items_total", COUNTER, \
	    "Items sent or received, by link and direction.") \
	S(BUS_FRAMES, "muster_bus_frames_total", COUNTER, \
	    "Frames sent or received, by link and direction.") \
	S(BUS_REJECTED, "muster_bus_frames_rejected_total", COUNTER, \
	    "Frames rejected, by link and reason.") \
	S(BUS_SENDS_BLOCKED, "muster_bus_sends_blocked_total", COUNTER, \
	    "Sends that a full socket refused although there was credit (a bug).") \
	S(WRITE_REQUESTS, "muster_write_requests_total", COUNTER, \
	    "Writes this actor requested, by link, operation and outcome.") \
	S(WRITE_REQUEST_TIME, "muster_write_request_duration_seconds", HISTOGRAM, \
	    "Time from the request of a write to its outcome, by link and operation.") \
	S(KEYS, "muster_link_keys", GAUGE, \
	    "Keys held, by link and side (store: of the producer, mirror: of the consumer).") \
	S(TAP_SENT, "muster_tap_records_total", COUNTER, "Records copied for tap readers.") \
	S(TAP_LOST, "muster_tap_records_lost_total", COUNTER, \
	    "Records lost to all tap readers because slow ones held too much memory.") \
	S(MAILBOX, "muster_actor_mailbox_depth", GAUGE, \
	    "Keys that wait to be processed in this actor.") \
	S(LOOP_LAG, "muster_loop_lag_seconds", HISTOGRAM, \
	    "Delay of the event loop's own timer of one second.") \
	S(WQ_DEPTH, "workqueue_depth", GAUGE, "Keys that are ready to be processed.") \
	S(WQ_ADDS, "workqueue_adds_total", COUNTER, "Keys added to the queue.") \
	S(WQ_RETRIES, "workqueue_retries_total", COUNTER, "Keys requeued after a failure.") \
	S(WQ_QUEUE, "workqueue_queue_duration_seconds", HISTOGRAM, \
	    "Time a key waited in the queue.") \
	S(WQ_WORK, "workqueue_work_duration_seconds", HISTOGRAM, "Time to process a key.") \
	S(WQ_UNFINISHED, "workqueue_unfinished_work_seconds", GAUGE, \
	    "Sum of the ages of all keys in process.") \
	S(WQ_LONGEST, "workqueue_longest_running_processor_seconds", GAUGE, \
	    "Age of the oldest key in process.") \
	S(HTTP_REQUESTS, "rest_client_requests_total", COUNTER, \
	    "HTTP requests, by code, method and host.") \
	S(HTTP_DURATION, "rest_client_request_duration_seconds", HISTOGRAM, \
	    "HTTP request time, by verb and host.") \
	S(WATCH_EVENTS, "muster_watch_events_total", COUNTER, \
	    "Watch events received, by kind and type.") \
	S(WATCH_RESTARTS, "muster_watch_restarts_total", COUNTER, \
	    "Watches started, by kind and reason.") \
	S(WATCH_STALLS, "muster_watch_stalls_total", COUNTER, \
	    "Watches that stalled, by kind and reason.") \
	S(RELISTS, "muster_relist_total", COUNTER, "Full lists started, by kind and reason.") \
	S(CACHE_OBJECTS, "muster_cache_objects", GAUGE, "Objects in the store, by kind.") \
	S(SKIPPED_OBJECTS, "muster_skipped_objects", GAUGE, \
	    "Objects that exist but cannot be read, so their consumers do not have them, by kind.") \
	S(OBJECTS_SKIPPED, "muster_objects_skipped_total", COUNTER, \
	    "Versions of objects that could not be read, by kind.") \
	S(WRITES, "muster_writes_total", COUNTER, \
	    "Writes for other actors, by sender, verb and outcome.") \
	S(WRITE_DURATION, "muster_write_duration_seconds", HISTOGRAM, \
	    "Time from an actor's request to its result, by verb.") \
	S(EVENTS_DROPPED, "muster_events_dropped_total", COUNTER, \
	    "Kubernetes Events dropped: too many, or the server rejected them.") \
	S(LEADER, "leader_election_master_status", GAUGE, \
	    "1 while this instance leads, by name of the Lease.") \
	S(LEADER_SLOW, "leader_election_slowpath_total", COUNTER, \
	    "Renewals that had to read the Lease first.") \
	S(OUE_EVAL_TIME, "oue_node_state_evaluation_duration_seconds", HISTOGRAM, \
	    "Time one evaluation took, by node (label off: of all).") \
	S(OUE_EVAL, "oue_node_state_evaluation_total", COUNTER, \
	    "Evaluations, by node and result.") \
	S(OUE_NOTIFY, "oue_downstream_notification_duration_seconds", HISTOGRAM, \
	    "Time from a change to its sending downstream, by type of consumer; per batch, of its oldest.") \
	S(OUE_ACTIVE, "oue_active_node_states", GAUGE, "Nodes that have a state.") \
	S(PROVIDER_REQUESTS, "muster_provider_requests_total", COUNTER, \
	    "Calls of a provider's API, by provider, class and code.") \
	S(PROVIDER_DURATION, "muster_provider_request_duration_seconds", HISTOGRAM, \
	    "Time of a provider call without the wait for its turn, by provider and class.") \
	S(PROVIDER_BUDGET, "muster_provider_budget", GAUGE, \
	    "Calls left in the provider's current window, as it reported last, by provider and class.") \
	S(FENCED, "muster_fenced_total", COUNTER, \
	    "Provider calls that did not start because of the lease, by reason.") \
	S(BRAKE, "muster_brake_total", COUNTER, \
	    "Deletions that did not start because of the brake, by reason.") \
	S(LKE_CLAIMS, "muster_lke_nodeclaims", GAUGE, \
	    "NodeClaims of LinodeNodeClasses, by state; foreign: another program launches it.") \
	S(LKE_MACHINES, "muster_lke_machines", GAUGE, \
	    "Machines of our pools, by state: claimed, unclaimed, or coming.") \
	S(LKE_STOPPED, "muster_lke_stopped_pool_keys", GAUGE, \
	    "Pool keys in which nothing is changed, because pools or tags contradict each other.") \
	S(LKE_LAUNCH_TIME, "muster_lke_launch_duration_seconds", HISTOGRAM, \
	    "Time from the creation of a NodeClaim until it was launched.") \
	S(LKE_WARNINGS, "muster_lke_warnings_total", COUNTER, \
	    "Warning Events about NodeClaims, by reason.") \
	S(LKE_ORPHANS, "muster_lke_orphans_removed_total", COUNTER, \
	    "Machines that nobody had claimed and that were removed.") \
	S(VPSIE_NODES, "muster_vpsie_nodes", GAUGE, "VPSieNodes, by phase.") \
	S(VPSIE_ATTEMPTS, "muster_vpsie_discovery_attempts_total", COUNTER, \
	    "Lists of machines in which a VPSieNode's own was searched for.") \
	S(VPSIE_DISCOVERY, "muster_vpsie_discovery_total", COUNTER, \
	    "Machines that were discovered, or not, by outcome.") \
	S(VPSIE_DISCOVERY_TIME, "muster_vpsie_discovery_duration_seconds", HISTOGRAM, \
	    "Time from the request for a machine until it was discovered.") \
	S(CAPA_DEPLOYMENTS, "muster_capa_machinedeployments", GAUGE, \
	    "MachineDeployments, by state: annotated, waiting or warned.") \
	S(CAPA_TYPES, "muster_capa_instance_types", GAUGE, "Instance types that were read, by region.") \
	S(CAPA_AGE, "muster_capa_catalogue_age_seconds", GAUGE, \
	    "Time since the instance types of a region were read completely, by region.") \
	S(CAPA_READS, "muster_capa_catalogue_reads_total", COUNTER, \
	    "Readings of all instance types of a region, by region and result.") \
	S(CAPA_AWS_ERRORS, "muster_capa_aws_errors_total", COUNTER, \
	    "Requests to AWS that failed, by service and fault.") \
	S(VIP_ALLOCATIONS, "capi_vip_allocator_allocations_total", COUNTER, \
	    "Addresses that were set, by role and ClusterClass.") \
	S(VIP_ERRORS, "capi_vip_allocator_allocation_errors_total", COUNTER, \
	    "Warnings about a missing address, by role, ClusterClass and reason.") \
	S(VIP_TIME, "capi_vip_allocator_allocation_duration_seconds", HISTOGRAM, \
	    "Time from the creation of a claim until its address was set, by role and ClusterClass.") \
	S(VIP_POOLS, "capi_vip_allocator_pools_available", GAUGE, \
	    "Pools that are neither paused nor exhausted, by ClusterClass and role.") \
	S(VIP_POOL_TOTAL, "capi_vip_allocator_pool_addresses_total", GAUGE, "Addresses of a pool.") \
	S(VIP_POOL_FREE, "capi_vip_allocator_pool_addresses_free", GAUGE, "Free addresses of a pool.") \
	S(VIP_POOL_USED, "capi_vip_allocator_pool_addresses_used", GAUGE, "Used addresses of a pool.") \
	S(VIP_CLAIMS, "capi_vip_allocator_claims_total", GAUGE, \
	    "IPAddressClaims of Clusters, by role and namespace.") \
	S(VIP_CLAIMS_READY, "capi_vip_allocator_claims_ready", GAUGE, \
	    "Those with an address, by role and namespace.") \
	S(VIP_CLAIMS_PENDING, "capi_vip_allocator_claims_pending", GAUGE, \
	    "Those without one, by role and namespace.") \
	S(VIP_RECONCILES, "capi_vip_allocator_reconcile_total", COUNTER, \
	    "Plans of a Cluster with a ClusterClass, by ClusterClass and result.") \
	S(VIP_RECONCILE_TIME, "capi_vip_allocator_reconcile_duration_seconds", HISTOGRAM, \
	    "Time of such a plan, by ClusterClass.") \
	S(VIP_HOOKS, "capi_vip_allocator_hook_requests_total", COUNTER, \
	    "Requests of hooks, by hook and outcome.") \
	S(VIP_HOOK_TIME, "capi_vip_allocator_hook_duration_seconds", HISTOGRAM, \
	    "Time from a request's last byte to its answer, by hook.") \
	S(REFUSED_SYSCALLS, "muster_refused_syscalls_total", COUNTER, \
	    "System calls that this actor made although its row does not have them.") \
	S(CPU, "process_cpu_seconds_total", COUNTER, "User and system CPU time.") \
	S(RSS, "process_resident_memory_bytes", GAUGE, "Resident memory.") \
	S(FDS, "process_open_fds", GAUGE, "Open file descriptors.") \
	S(FDS_MAX, "process_max_fds", GAUGE, "Limit of open file descriptors.") \
	S(START, "process_start_time_seconds", GAUGE, "Start time since the Unix epoch.")

#endif
