import { defined } from '../../../base/runtime/index.js'
import type { ClientTls } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import { readTextFile } from './input-files.js'
import { accessOf, type IronicAccess } from './ironic-access.js'

/** Access to an Ironic by `--ca` and `--insecure`, and by the environment where these are not there. */
export async function accessBy(
  { ca, insecure }: { ca?: string; insecure?: boolean },
  { variables }: Environment,
): Promise<IronicAccess> {
  const { headers, tls } = await accessOf(variables)
  const own: ClientTls = defined({
    ca: ca === undefined ? undefined : await readTextFile(ca, 'file with certificates'),
    insecure,
  })
  return { headers, tls: { ...tls, ...own } }
}
