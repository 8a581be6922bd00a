import { authFiles, readMirrors } from '../../../base/registry/index.js'
import type { RegistrySettings } from '../../runs/index.js'
import { defined, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'

/** The files with credentials and mirrors of registries. */
export async function registryOf(
  { authfile, mirrors }: { authfile?: string; mirrors?: string },
  { variables }: Environment,
): Promise<RegistrySettings> {
  return {
    auth: authFiles(variables, authfile),
    ...defined({ mirrors: mirrors === undefined ? undefined : await readMirrors(mirrors, systemClock()) }),
  }
}
