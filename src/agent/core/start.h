/*
 * start - the agent's beginning in a process image (start.c), and in threads (threads.c).
 */
#pragma once

/* From now on children of fork begin anew, or leave. */
void start_follow_forks(void);
/* Of the threads that were being born, none is in a child of fork. */
void threads_forget_others(void);
