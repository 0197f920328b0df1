#include "profile/thread_kinds.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/profile.h"

struct thread_kinds {
	struct intern patterns, names;
	uint32_t *kinds; /* by thread id */
	uint32_t *only;  /* by kind: the name that all of it have, or SEVERAL */
	size_t count;
};

#define SEVERAL UINT32_MAX

static void add_pattern(const char *name, struct text *out)
{
	for (; *name != '\0'; name++) {
		if (!isdigit((unsigned char)*name)) {
			text_add_bytes(out, name, 1);
			continue;
		}
		text_add(out, "N");
		while (isdigit((unsigned char)name[1]))
			name++;
	}
}

struct thread_kinds *thread_kinds_new(const struct profile *profile)
{
	struct thread_kinds *kinds = xzalloc(sizeof *kinds);

	kinds->count = profile_thread_count(profile);
	kinds->kinds = xzalloc((kinds->count + 1) * sizeof *kinds->kinds);
	kinds->only = xzalloc((kinds->count + 1) * sizeof *kinds->only);
	for (uint32_t i = 1; i <= kinds->count; i++) {
		const struct thread *thread =
			profile_get_thread(profile, (struct thread_id){ i });
		const char *plain = thread->name ? thread->name : "thread";
		CLEANUP(text_done) struct text pattern = { 0 };

		add_pattern(plain, &pattern);
		const uint32_t kind =
			intern_add(&kinds->patterns, text_string(&pattern), pattern.len);
		const uint32_t name = intern_add(&kinds->names, plain, strlen(plain));

		kinds->kinds[i] = kind;
		kinds->only[kind] =
			kinds->only[kind] == 0 || kinds->only[kind] == name ? name : SEVERAL;
	}
	return kinds;
}

void thread_kinds_free(struct thread_kinds *kinds)
{
	if (!kinds)
		return;
	intern_done(&kinds->patterns);
	intern_done(&kinds->names);
	free(kinds->only);
	free(kinds->kinds);
	free(kinds);
}

void thread_kinds_freep(struct thread_kinds **kinds)
{
	thread_kinds_free(*kinds);
	*kinds = NULL;
}

uint32_t thread_kinds_of(const struct thread_kinds *kinds, struct thread_id thread)
{
	return thread.n <= kinds->count ? kinds->kinds[thread.n] : 0;
}

const char *thread_kinds_name(const struct thread_kinds *kinds, uint32_t kind)
{
	if (kind == 0)
		return "";
	return kinds->only[kind] == SEVERAL
		       ? intern_get(&kinds->patterns, kind, NULL)
		       : intern_get(&kinds->names, kinds->only[kind], NULL);
}
