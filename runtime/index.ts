/** The ground that every room stands on: time, randomness, errors, lifetimes, the probe, logging. No domain words. */
export { held, hours, minutes, seconds, type Clock, type SleepOptions } from './clock.js'
export { contained, ownerOfError, type Owner } from './containment.js'
export { during, errorChain, isDiskFull, userError, UserError } from './error.js'
export {
  checkRows,
  closeToOthers,
  columnsOf,
  decodedRow,
  findingOf,
  jsonProblem,
  openSound,
  type DatabaseForm,
  type Row,
  type TableForm,
} from './database.js'
export { parseIni, type ConfigFile } from './ini.js'
export { delayed, Mutex, onAbort, opening, Scope, ScopeClosed, sharedAbort, unlessAborted } from './lifetime.js'
export { takeLock, tryLock } from './lock-file.js'
export { silent, withFields, type Logger, type LogLevel } from './logger.js'
export { checkNesting, DEEPEST, isNestedDeeper, jsonText, readNested } from './nesting.js'
export { packageFile, packageVersion } from './package-file.js'
export { Probe, type Interceptor, type ProbePoint } from './probe.js'
export { withoutRepeats } from './repeats.js'
export { seededRandom, uniform, urlSafeToken, uuid, type Random } from './random.js'
export {
  amount,
  anyText,
  matching,
  oneOf,
  portNumber,
  readSetting,
  wordList,
  yesOrNo,
  type Setting,
} from './setting.js'
export { systemClock } from './system-clock.js'
export { systemRandom } from './system-random.js'
export { sweepTemporaryFolders, temporaryFolder, type TemporaryFolder } from './temporary-folder.js'
export { NothingLeftToHappen, VirtualClock } from './virtual-clock.js'
