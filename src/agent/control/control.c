#include "agent/control/control.h"

#include <errno.h>
#include <string.h>

#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/hooks.h"
#include "agent/core/mechanism.h"
#include "agent/core/regions.h"

/* include/fathom.h has what they do. */
void fathom_agent_region_begin(const char *name);
void fathom_agent_region_end(const char *name);
void fathom_agent_pause(void);
void fathom_agent_resume(void);
int fathom_agent_is_running(void);

/*
 * One thread at a time: one that comes meanwhile asks in vain, for it is at a race with the other.
 */
static bool is_switching AGENT_STATE;

bool control_is_on(void)
{
	MECHANISMS_DO(say_hello, ());
	return __atomic_load_n(&agent.ring, __ATOMIC_ACQUIRE) != NULL;
}

void control_begin_region(const struct region_place *place, const char *name, u64 length,
			  const struct region_asking *asking)
{
	const struct region *region =
		control_is_on() ? regions_begin(place, name, length) : NULL;

	agent.has_asked = true;
	if (region != NULL)
		MECHANISMS_DO(begin_region, (region, asking));
}

void control_end_region(const struct region_place *place, const char *name, u64 length)
{
	const u64 serial = regions_end(place, name, length);

	if (serial != 0)
		MECHANISMS_DO(end_region, (serial));
}

static void set_paused(bool is_paused)
{
	agent.has_asked = true;
	if (__atomic_exchange_n(&is_switching, true, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&agent.is_paused, is_paused, __ATOMIC_RELAXED);
	MECHANISMS_DO(pause, (is_paused));
	__atomic_store_n(&is_switching, false, __ATOMIC_RELEASE);
}

static void control_begin(struct ring_header *ring, bool is_first)
{
	(void)ring;
	if (is_first && agent.terms.flags & RING_PAUSED)
		set_paused(true);
}

static void control_forget_others(void)
{
	if (!agent.has_asked)
		return;
	regions_forget_others();
	__atomic_store_n(&is_switching, false, __ATOMIC_RELAXED);
}

/* With the hello a process may be paused: what it asks for comes behind that. */
void control_pause(void)
{
	MECHANISMS_DO(say_hello, ());
	set_paused(true);
}

void control_resume(void)
{
	MECHANISMS_DO(say_hello, ());
	set_paused(false);
}

bool control_is_running(void)
{
	return control_is_on() && !__atomic_load_n(&agent.is_paused, __ATOMIC_RELAXED);
}

/* Its caller's frame has the address that the stack pointer has there. */
#define CALLERS_PLACE                                               \
	(struct region_place)                                       \
	{                                                           \
		.anchor = REGION_NATIVE, .count = 1, .frames[0] = { \
			.frame = (u64)__builtin_dwarf_cfa()         \
		}                                                   \
	}

AGENT_EXPORT void fathom_agent_region_begin(const char *name)
{
	const struct region_place place = CALLERS_PLACE;
	const int saved_errno = errno;

	if (name != NULL)
		control_begin_region(&place, name, strlen(name), NULL);
	errno = saved_errno;
}

AGENT_EXPORT void fathom_agent_region_end(const char *name)
{
	const struct region_place place = CALLERS_PLACE;
	const int saved_errno = errno;

	control_end_region(&place, name, name != NULL ? strlen(name) : 0);
	errno = saved_errno;
}

AGENT_EXPORT void fathom_agent_pause(void)
{
	control_pause();
}

AGENT_EXPORT void fathom_agent_resume(void)
{
	control_resume();
}

AGENT_EXPORT int fathom_agent_is_running(void)
{
	return control_is_running();
}

extern const struct mechanism control_mechanism;
const struct mechanism control_mechanism = {
	.begin = control_begin,
	.forget = control_forget_others,
};
