import { setFlagsFromString } from 'node:v8'

// A test calls much code a few times: V8 waits longer before it optimizes a function, which takes a tenth off the suite.
setFlagsFromString('--interrupt-budget=600000')
