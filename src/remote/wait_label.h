/* wait_label - describes the system call that a thread waits in, and what it is called on. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct remote;
struct task_call;
struct text;

/*
 * Adds "read(/var/log/app)", "recvfrom(127.0.0.1:5432)", "poll(2 sockets, a pipe)",
 * "clock_nanosleep(10 s)"; nothing if the thread is in no call. is_brief: without times and
 * descriptor numbers.
 */
void wait_describe(struct remote *remote, const struct task_call *call, bool is_brief,
		   struct text *out);

/*
 * The kind of a descriptor, by the text of its /proc link: "a socket", "a pipe", or the path
 * itself.
 */
const char *wait_descriptor_kind(const char *link);
/* Whether a poll or select has descriptors: without any it is a sleep. */
bool wait_has_descriptors(struct remote *remote, const struct task_call *call);
