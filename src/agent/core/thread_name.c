#include "agent/core/thread_name.h"

#include "abi/ring.h"
#include "agent/core/memory.h"
#include "agent/core/record.h"
#include "agent/core/thread_notes.h"
#include "walk/name_text.h"

/* Most names are set once, when the thread has begun: the time between looks doubles. */
#define FIRST_LOOKS_NS 1000000ULL
#define FIRST_LOOKS    7
#define LOOK_EVERY_NS  100000000ULL

static u64 hash_of(const struct name_text *name)
{
	u64 hash = name->length;

	for (u32 i = 0; i < name->length; i++)
		hash = (hash ^ name->bytes[i]) * 0x9fb21c651e98df25ULL;
	return (hash ^ hash >> 32) | 1;
}

/* How much of the name is sent: it is cut at a character's beginning. */
static u32 length_of(const struct name_text *name)
{
	u32 length = name->length;

	if (length <= RING_THREAD_NAME_MAX)
		return length;
	for (length = RING_THREAD_NAME_MAX; length > 0; length--) {
		if ((name->bytes[length] & 0xc0) != 0x80)
			return length;
	}
	return 0;
}

static bool send(struct ring_header *ring, const struct name_text *name)
{
	const u32 length = length_of(name);
	struct record record;

	if (!record_begin(&record, ring,
			  RING_WORDS(struct ring_thread) + (length + 7) / sizeof(u64)))
		return false;
	record_put(&record, thread_notes.last_time_ns);
	record_put(&record, (u64)(u32)thread_notes.tid | (u64)length << 32);
	for (u32 i = 0; i < length; i++)
		record_put_byte(&record, name->bytes[i]);
	record_end(&record, RING_THREAD);
	return true;
}

bool thread_name_is_due(void)
{
	const u64 now_ns = thread_notes.last_time_ns;
	const u32 looks = thread_notes.name_looks;
	const u64 apart_ns = looks < FIRST_LOOKS ? FIRST_LOOKS_NS << looks : LOOK_EVERY_NS;

	if (looks > 0 && now_ns - thread_notes.named_ns < apart_ns)
		return false;
	thread_notes.named_ns = now_ns;
	if (looks < FIRST_LOOKS)
		thread_notes.name_looks++;
	return true;
}

void thread_name_send(struct ring_header *ring, const struct name_text *name)
{
	if (hash_of(name) != thread_notes.name_hash && send(ring, name))
		thread_notes.name_hash = hash_of(name);
}
