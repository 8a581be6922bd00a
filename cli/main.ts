import { processEnvironment } from './environment.js'
import { run } from './program.js'

const environment = processEnvironment()
// No await at the top: the bundle of the command is CommonJS.
void run(environment).then((code) => environment.end(code))
