import { maskedUrl } from '../../base/bytes/index.js'
import { errorChain } from '../../base/runtime/index.js'
import { FatVolume } from '../disk/fat-volume.js'
import type { MediaAccess } from './boot-network.js'
import { kernelParameters } from './kernel-parameters.js'
import type { Loading } from './live-image.js'

/** A medium beside the one that is booted. */
export interface RemovableMedium extends MediaAccess {
  name: 'virtual USB stick' | 'virtual floppy'
  url: string
}

/** Label of the filesystem that Ironic makes, in any case (ironic common/images.py create_vfat_image). */
const FLOPPY_LABEL = 'ir-vfd-dev'
const FILE = 'parameters.txt'
/** A whole floppy: Ironic's is one of 1440 KiB. */
const MAX_PARAMETERS_BYTES = 2 ** 20

/**
 * Parameters for the agent on a virtual stick or floppy. The agent looks for them only where the kernel's command line has
 * `boot_method=vmedia`; they win over those of the command line (ironic-python-agent utils.py get_agent_params). Undefined without such a medium.
 *
 * @throws Error when the medium lacks its file: the agent ends there
 */
export async function removableParameters(
  kernelArguments: string,
  media: readonly RemovableMedium[],
  loading: Loading,
): Promise<Record<string, string> | undefined> {
  if (kernelParameters(kernelArguments)['boot_method'] !== 'vmedia') return undefined
  for (const medium of media) {
    const volume = await volumeOf(medium, loading)
    if (!volume) continue
    const entry = await volume.find(FILE)
    if (!entry || entry.size > MAX_PARAMETERS_BYTES)
      throw new Error(
        `the ${medium.name} ${FLOPPY_LABEL} has ${entry ? `a ${FILE} of ${entry.size} bytes` : `no ${FILE}`}`,
      )
    loading.say(`the ${medium.name} has ${FILE} for the agent`)
    return parametersIn((await volume.read(FILE)).toString('utf8'))
  }
  return undefined
}

/** The filesystem on a medium; undefined where the agent would find none, as on a stick with an ISO. */
async function volumeOf(
  { name, url, ...access }: RemovableMedium,
  { network, signal, say }: Loading,
): Promise<FatVolume | undefined> {
  try {
    const source = await network.open(url, { signal, ...access })
    const volume = await FatVolume.open(source, 0)
    return (await volume.label())?.toLowerCase() === FLOPPY_LABEL ? volume : undefined
  } catch (error) {
    signal.throwIfAborted()
    if ((error as { code?: unknown }).code !== 'EINVAL')
      say(`the ${name} ${maskedUrl(url)} cannot be read: ${errorChain(error).join(': ')}`)
    return undefined
  }
}

/** Words without `=` are left out, as by the agent (utils.py _read_params_from_file). */
function parametersIn(text: string): Record<string, string> {
  const pairs = text.split(/\s+/).flatMap((word) => {
    const at = word.indexOf('=')
    return at < 0 ? [] : [[word.slice(0, at), word.slice(at + 1)] as const]
  })
  return Object.fromEntries(pairs)
}
