#include "recent.h"

static void begin_generation(struct recent *recent)
{
	table_done(&recent->old);
	recent->old = recent->young;
	recent->young = (struct table){ 0 };
}

uint64_t *recent_at(struct recent *recent, uint64_t hi, uint64_t lo, bool *out_is_new)
{
	uint64_t *place = table_find(&recent->young, hi, lo);
	uint64_t value = 0;
	bool is_new = false;

	if (place == NULL) {
		is_new = !table_get(&recent->old, hi, lo, &value);
		if (recent->limit != 0 && recent->young.count >= recent->limit)
			begin_generation(recent);
		place = table_at(&recent->young, hi, lo, NULL);
		*place = value;
	}
	if (out_is_new)
		*out_is_new = is_new;
	return place;
}

void recent_done(struct recent *recent)
{
	table_done(&recent->young);
	table_done(&recent->old);
}
