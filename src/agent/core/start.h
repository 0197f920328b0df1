/*
 * start - begins the agent in a process image and in children of fork (start.c, threads.c).
 */
#pragma once

/* Registers the handlers of fork(): its children begin anew, or are not sampled. */
void start_follow_forks(void);
/* In a child of fork: drops the threads that were being created in the parent. */
void threads_forget_others(void);
