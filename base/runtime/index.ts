/** The ground that every room stands on: time, randomness, errors, lifetimes, the probe, logging. No domain words. */
export {
  type Clock,
  withClockHeld,
  withWorkStopped,
  hours,
  minutes,
  type MovableClock,
  waitInQueue,
  seconds,
  type HoldOptions,
  type SleepOptions,
} from './clock.js'
export { runContained, ownerOfError, traceOwners } from './containment.js'
export { pageProblems, checkRows, rowProblem, selectAll } from './database/check-database.js'
export { type CommitMark, markFile, OpenMark, readMark, replaceMark } from './database/commit-mark.js'
export { createTables, insertion } from './database/create-tables.js'
export { type DatabaseForm, decodedRow, jsonProblem, type Row, type TableForm } from './database/database-form.js'
export { closeToOthers, openDatabase, type SealedDatabase, versionOf, withoutLog } from './database/open-database.js'
export { addRow, checkedSeal, isSealed, readSeal, rowSum, schemaOf, type Seal, sealOnce } from './database/seal.js'
export { type DatabaseContents, type Standing, standingOf } from './database/standing.js'
export { defined, type WhenDefined } from './defined.js'
export { defineCatalogue, type ErrorEntry } from './catalogue.js'
export {
  type ErrorCatalogues,
  type ErrorCode,
  during,
  errorChain,
  isDiskFull,
  knownInAllCopies,
  userError,
  UserError,
} from './error.js'
export { ERRORS } from './errors.js'
export { inParallel } from './in-parallel.js'
export { type ConfigFile, type IniValue, parseIni, readIni } from './ini.js'
export { LateBound } from './late-bound.js'
export { LazyMap } from './lazy-map.js'
export {
  delaySignal,
  Mutex,
  onAbort,
  openInScope,
  Scope,
  ScopeClosed,
  sharedAbort,
  type SharedAbort,
  unlessAborted,
  withinLimit,
} from './lifetime.js'
export { checkPackages, importPackage, loadPackage } from './load-package.js'
export { takeLock, tryLock } from './lock-file.js'
export { type Logger, type LogLevel, silent, withFields } from './logger.js'
export {
  checkNesting,
  MAX_JSON_DEPTH,
  isNestedDeeper,
  isObject,
  jsonText,
  jsonInOnePiece,
  ownMember,
  pointerParts,
  readJson,
  readNested,
} from './json.js'
export {
  DURATION_PATTERN,
  DURATION_RANGE_PATTERN,
  durationText,
  elapsedText,
  GIB,
  KIB,
  MIB,
  parseSize,
  readDuration,
  sizeText,
} from './quantity.js'
export { checkOpenFileLimit } from './open-files.js'
export { packageFile, packageToInstall, packageVersion } from './package-file.js'
export { type Interceptor, type Point, Probe, type ProbePoint } from './probe.js'
export {
  type Random,
  type SeededRandom,
  keyedRandom,
  seededRandom,
  randomUniform,
  urlSafeToken,
  randomUuid,
  uuidOf,
} from './random.js'
export { withoutRepeats } from './repeats.js'
export {
  amountSetting,
  anyText,
  patternSetting,
  choiceSetting,
  portNumber,
  readSetting,
  type SettingParser,
  wordList,
  yesOrNo,
} from './setting.js'
export { makeFolder } from './files/make-folder.js'
export {
  readNamedFile,
  readNamedFileSync,
  readNamedText,
  refuseSpecialFile,
  refuseSpecialFiles,
  type NamedFileLimits,
} from './files/read-named-file.js'
export { replaceFile, replaceFileSync, replaceLink, writeResult } from './files/replace-file.js'
export { hostBoot } from './system-boot.js'
export { openSqlite } from './sqlite.js'
export { startFailure } from './start-failure.js'
export { systemFailure } from './system-failure.js'
export { systemClock } from './system-clock.js'
export { collectAtRest, collectGarbage, collectSooner, keepGarbageSmall, letGarbageGrow } from './system-memory.js'
export { isSameSecret } from './same-secret.js'
export { systemRandom } from './system-random.js'
export { sweepTemporaryFolders, temporaryFolder, type TemporaryFolder } from './files/temporary-folder.js'
export { Timer } from './timer.js'
export { type Due, TimerHeap } from './timer-heap.js'
export { type ClockState, type Mover, LabTimeLimitError, ClockIdleError, VirtualClock } from './virtual-clock.js'
export { type ClockMode, LabClock, standsStill } from './system-lab-clock.js'
export { countText } from './text/count-text.js'
export { didYouMean, nearestWord } from './text/nearest.js'
export { literalPattern, wildcardPattern } from './text/patterns.js'
export { shareText } from './text/shared-texts.js'
export { columnLines, alignColumns, type ColumnOptions, wrapWords } from './text/text-layout.js'
export { yamlPlace } from './text/yaml-place.js'
export {
  markedLine,
  wrongLine,
  wrongLineClause,
  yamlProblem,
  type WrongLine,
  type YamlProblem,
} from './text/yaml-problem.js'
export { readYamlText, type YamlText } from './text/yaml-text.js'
export { visibleJson, visibleLine, visibleText } from './text/visible-text.js'
