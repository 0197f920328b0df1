/*
 * thread_name - what the program calls a thread, reported to the recorder.
 */
#pragma once
#include <stdbool.h>

struct name_text;
struct ring_header;

/* Whether it is time to look: soon after the first time, then ten times a second at most. */
bool thread_name_is_due(void);
/* Sends the calling thread's name to the recorder, if that has another one. */
void thread_name_send(struct ring_header *ring, const struct name_text *name);
