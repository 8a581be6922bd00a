import { gunzipSync } from 'node:zlib'
import { parse as parseToml } from 'smol-toml'
import { PoolRefusal } from './os-streams.js'
import { dataUrlBytes, type SpecConfig, type SpecFile } from '../../../../../ignition/index.js'

const CRIO_DROP_INS = '/etc/crio/crio.conf.d/'

/** The refusal of a pool with runc, as pkg/controller/render/render_controller.go of machine-config-operator 7ff337a says it. */
export const runcRefusal = (pool: string): PoolRefusal =>
  new PoolRefusal(
    `MachineConfigPool ${pool} targets a RHEL 10 OS image where runc is not available. To unblock, migrate to crun by ` +
      'removing any ContainerRuntimeConfig that sets defaultRuntime to runc, and removing any MachineConfig that sets ' +
      `default_runtime = "runc" in CRI-O configuration under ${CRIO_DROP_INS}`,
  )

/**
 * True if CRI-O starts containers with runc by a configuration: the last of its files that names a runtime counts
 * (pkg/controller/common/helpers.go DetectRuncInMachineConfig).
 *
 * @throws Error for a file of CRI-O that is no TOML
 */
export function usesRunc({ storage }: SpecConfig): boolean {
  const files = (storage?.files ?? []).filter(({ path }) => path?.startsWith(CRIO_DROP_INS))
  const runtimes = files
    .sort((a, b) => (a.path! < b.path! ? -1 : 1))
    .map((file) => defaultRuntime(file))
    .filter((runtime) => runtime !== '')
  return runtimes.at(-1) === 'runc'
}

function defaultRuntime(file: SpecFile): string {
  const { source, compression } = file.contents ?? {}
  const bytes = dataUrlBytes(source ?? '') ?? new Uint8Array()
  const text = Buffer.from(compression === 'gzip' ? gunzipSync(bytes) : bytes).toString()
  try {
    const { crio } = parseToml(text) as { crio?: { runtime?: { default_runtime?: unknown } } }
    const runtime = crio?.runtime?.default_runtime
    return typeof runtime === 'string' ? runtime : ''
  } catch (cause) {
    throw new Error(`failed to parse TOML from CRI-O drop-in "${file.path}"`, { cause })
  }
}
