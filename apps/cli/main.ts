import { processEnvironment } from './environment.js'
import { runCommandLine } from './cli-program.js'

const environment = processEnvironment()
// No await at the top: the bundle of the command is CommonJS.
void runCommandLine(environment).then((code) => environment.end(code))
