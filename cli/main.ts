#!/usr/bin/env node
import { keepGarbageSmall } from '../runtime/index.js'
import { processEnvironment } from './environment.js'
import { run } from './program.js'

const environment = processEnvironment()
// Before anything is loaded for it: what loads most makes the heap grow. `up` lets it grow once it serves.
if (environment.argv[0] === 'up' || environment.argv.some((word) => /^--target(=|$)/.test(word))) keepGarbageSmall()
await environment.end(await run(environment))
