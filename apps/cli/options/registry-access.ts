import { authFiles, readMirrors } from '../../../base/registry/index.js'
import type { RegistrySettings } from '../../runs/index.js'
import { defined, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'

/** The files with credentials and mirrors of registries. */
export async function registryOf(
  { authfile, mirrors }: { authfile?: string; mirrors?: string },
  { variables, stderr }: Environment,
): Promise<RegistrySettings> {
  const auth = authFiles(variables, authfile)
  const onWait = (sentence: string): void => stderr.line(`ironstage: ${sentence}`)
  if (mirrors === undefined) return { auth, onWait }
  const { rules, archive } = await readMirrors(mirrors, systemClock())
  // An archive without mirror sets says nothing about other mirrors.
  return { auth, onWait, ...defined({ mirrors: archive && rules.length === 0 ? undefined : rules, archive }) }
}
