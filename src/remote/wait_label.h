/*
 * wait_label - the system call that a thread waits in, and what that is on, in a few words.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct remote;
struct task_call;
struct text;

/*
 * "read(/var/log/app)", "recvfrom(127.0.0.1:5432)", "poll(2 sockets, a pipe)",
 * "clock_nanosleep(10 s)"; nothing if in no call.
 * is_brief: without times and numbers of descriptors.
 */
void wait_describe(struct remote *remote, const struct task_call *call, bool is_brief,
		   struct text *out);

/* What a descriptor is, by the text of its link: "a socket", "a pipe", or the path itself. */
const char *wait_descriptor_kind(const char *link);
/* Whether a poll or select has descriptors: without, it is a sleep. */
bool wait_has_descriptors(struct remote *remote, const struct task_call *call);
