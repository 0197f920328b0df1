#include "agent/core/pointers.h"

#include "agent/core/room.h"

bool pointers_take(struct pointers *pointers, size_t count)
{
	pointers->room = NULL;
	pointers->entries = pointers->few;
	if (count <= POINTERS_FEW)
		return true;
	pointers->room = room_take(count * sizeof(char *));
	if (pointers->room == NULL)
		return false;
	pointers->entries = room_memory(pointers->room);
	return true;
}

void pointers_give(struct pointers *pointers)
{
	if (pointers->room != NULL)
		room_give(pointers->room);
}
