/* SPDX-License-Identifier: Apache-2.0 */
/* One file of unit tests is one case. */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>

/* What main returns; ADD adds the tests. */
static inline int
unit_run(const char *name, void (*add)(TCase *))
{
	Suite *suite = suite_create(name);
	TCase *tests = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tests, 60);	/* sanitizers are slow */
	add(tests);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
