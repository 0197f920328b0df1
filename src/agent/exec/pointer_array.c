#include "agent/exec/pointer_array.h"

#include "agent/exec/scratch.h"

bool pointer_array_take(struct pointer_array *pointers, size_t count)
{
	pointers->scratch = NULL;
	pointers->entries = pointers->few;
	if (count <= POINTER_ARRAY_FEW)
		return true;
	pointers->scratch = scratch_take(count * sizeof(char *));
	if (pointers->scratch == NULL)
		return false;
	pointers->entries = scratch_memory(pointers->scratch);
	return true;
}

void pointer_array_give(struct pointer_array *pointers)
{
	if (pointers->scratch != NULL)
		scratch_give(pointers->scratch);
}
