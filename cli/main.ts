#!/usr/bin/env node
import { processEnvironment } from './environment.js'
import { run } from './program.js'

const environment = processEnvironment()
await environment.end(await run(environment))
