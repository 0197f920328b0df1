/* named_as_hook - a library with a function of its own that has the name of a profiler's. */
int mcount(int messages);
int count(int messages);

int mcount(int messages)
{
	return messages + 1;
}

int count(int messages)
{
	return mcount(messages);
}
