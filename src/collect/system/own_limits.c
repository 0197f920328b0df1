#include "collect/system/own_limits.h"

/*
 * A process takes two or three at a time: enough for more processes than a session ever
 * follows.
 */
#define DESCRIPTORS 65536

void own_limits_raise(struct own_limits *out_before)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	*out_before = (struct own_limits){ .descriptors = { 0 } };
	sigaction(SIGXFSZ, &ignore, &out_before->on_file_size);
	if (getrlimit(RLIMIT_NOFILE, &out_before->descriptors) < 0)
		return;
	struct rlimit raised = out_before->descriptors;

	if (raised.rlim_cur < DESCRIPTORS)
		raised.rlim_cur = raised.rlim_max < DESCRIPTORS ? raised.rlim_max : DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &raised);
}

void own_limits_give_back(const struct own_limits *before)
{
	sigaction(SIGXFSZ, &before->on_file_size, NULL);
	if (before->descriptors.rlim_max != 0)
		setrlimit(RLIMIT_NOFILE, &before->descriptors);
}
