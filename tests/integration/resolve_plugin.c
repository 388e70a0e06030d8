// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library for resolve_load.c that comes and goes. PLUGIN is the name of its function. */

static volatile unsigned long sink;

__attribute__((noinline, noclone)) static void PLUGIN(void)
{
	for (unsigned long i = 0; i < 1000000; i++)
		sink += i;
}

void plugin_work(void (*back)(unsigned int));

void plugin_work(void (*back)(unsigned int))
{
	PLUGIN();
	back(6);
	sink++;
}
