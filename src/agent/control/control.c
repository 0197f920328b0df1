#include "agent/control/control.h"

#include <errno.h>
#include <string.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/hooks.h"
#include "agent/core/mechanism.h"
#include "agent/core/regions.h"

/* include/fathom.h describes these. */
void fathom_agent_region_begin(const char *name);
void fathom_agent_region_end(const char *name);
void fathom_agent_pause(void);
void fathom_agent_resume(void);
int fathom_agent_is_running(void);

static struct {
	bool is_paused;
	bool has_asked; /* the program asked for a region or a pause */
	/* A thread is switching: another one's request races with it, and is dropped. */
	bool is_switching;
} control AGENT_STATE;

bool control_is_on(void)
{
	MECHANISMS_DO(make_handshake, ());
	return __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE) != NULL;
}

void control_begin_region(const struct region_place *place, const char *name, u64 length,
			  const struct region_asking *asking)
{
	const struct region *region =
		control_is_on() ? regions_begin(place, name, length) : NULL;

	control.has_asked = true;
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
	control.has_asked = true;
	if (__atomic_exchange_n(&control.is_switching, true, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&control.is_paused, is_paused, __ATOMIC_RELAXED);
	MECHANISMS_DO(pause, (is_paused));
	__atomic_store_n(&control.is_switching, false, __ATOMIC_RELEASE);
}

static void control_begin(struct ring_header *ring, bool is_first)
{
	(void)ring;
	if (is_first && own_ring.terms.flags & RING_PAUSED)
		set_paused(true);
}

static void control_forget_others(void)
{
	if (!control.has_asked)
		return;
	regions_forget_others();
	__atomic_store_n(&control.is_switching, false, __ATOMIC_RELAXED);
}

/* The handshake first: it may pause the process, and the request comes after that. */
void control_pause(void)
{
	MECHANISMS_DO(make_handshake, ());
	set_paused(true);
}

void control_resume(void)
{
	MECHANISMS_DO(make_handshake, ());
	set_paused(false);
}

bool control_is_paused(void)
{
	return __atomic_load_n(&control.is_paused, __ATOMIC_RELAXED);
}

bool control_is_running(void)
{
	return control_is_on() && !control_is_paused();
}

/* The place of the exported function's caller: by its stack pointer, an address in its frame. */
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
