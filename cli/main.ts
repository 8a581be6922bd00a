#!/usr/bin/env node
import { processEnvironment } from './environment.js'
import { run } from './program.js'

process.exitCode = await run(processEnvironment())
