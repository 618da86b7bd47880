// Runs before each file of compat tests.

import { requireRows } from './saw.ts'

requireRows()
