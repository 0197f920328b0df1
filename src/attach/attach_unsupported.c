/* Refuses to attach, on machines other than x86-64. */
#include "attach/attach.h"

#include <errno.h>

#include "base/error.h"

int attach_begin(const struct attach_options *options, struct attach **out_attach,
		 struct error *err)
{
	(void)options;
	(void)out_attach;
	return error_set(err, -ENOTSUP, "agents are brought into processes on x86-64 only");
}

int attach_look(struct attach *attach, struct error *err)
{
	(void)attach;
	return error_set(err, -ENOTSUP, "there is no agent");
}

int attach_take_connection(const struct attach *attach)
{
	(void)attach;
	return -ENOTSUP;
}

bool attach_found_agent(const struct attach *attach)
{
	(void)attach;
	return false;
}

uint64_t attach_stopped_ns(const struct attach *attach)
{
	(void)attach;
	return 0;
}

void attach_end(struct attach *attach)
{
	(void)attach;
}
