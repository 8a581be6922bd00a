import { isLoopback } from '../../../base/bytes/index.js'
import { addressForBmcs, isEveryAddress } from '../../../lab/index.js'
import { agentConfig, openImageService, type LiveUrls } from '../../../coreos/index.js'
import { systemClock, systemRandom, urlSafeToken } from '../../../base/runtime/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { agentOptionsOf } from './ignition-agent.js'
import { liveImagesOf } from '../installer/live-image-options.js'
import { logTo } from '../output/command-log.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { IMAGES_SERVE_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

/** `ironstage images serve`: serves live images whose config starts the agent, until a signal stops it. */
export async function imagesServe(
  options: CommandOptionValues<(typeof IMAGES_SERVE_OPTIONS)[number]>,
  environment: Environment,
): Promise<number> {
  const { stdout, stopped, variables } = environment
  const clock = systemClock()
  const files = await liveImagesOf(options, clock)
  if (!files)
    throw usageError(
      'there is no live image to serve',
      'name one with --live-iso FILE, or a folder of them with --live-image DIR',
      'live-files',
    )
  const { host = '127.0.0.1', 'public-url': publicUrl } = options
  const agent = await agentOptionsOf(options, variables)
  const publicHost =
    publicUrl === undefined && isEveryAddress(host)
      ? await addressForBmcs(
          agent.ironicUrls.flatMap((urls) => urls.split(',')),
          clock,
        )
      : host
  if (publicHost === undefined)
    throw usageError(
      'this host has no address that a BMC can reach',
      'name the URL by which machines reach the images, with --public-url',
      'public-url',
    )
  const json = options.json ?? false
  await using images = await openImageService({
    files,
    config: JSON.stringify(agentConfig(agent)),
    configOf: (name) => JSON.stringify(agentConfig({ ...agent, hostname: name })),
    secret: urlSafeToken(systemRandom),
    host,
    port: options['image-port'] ?? 0,
    allowedHosts: options['allowed-host'],
    ...(publicUrl === undefined ? { publicHost } : { publicUrl: publicUrl.replace(/\/+$/, '') }),
    clock,
    random: systemRandom,
    logger: logTo(environment, json),
    onRequest: ({ method, path, status }) => {
      if (json) stdout.json({ event: 'request', method, path, status })
    },
  })
  const served = images.architectures.flatMap((architecture) => [
    { architecture, node: null, ...images.urls(architecture)! },
    ...(options.node ?? []).map((node) => ({
      architecture,
      node,
      ...images.publish(node, architecture)!,
    })),
  ])
  if (json) stdout.json({ event: 'ready', url: images.url, images: served })
  else {
    const lines = served.flatMap(({ architecture, node, ...urls }) => imageLines(node ?? `all, ${architecture}`, urls))
    const reach =
      publicUrl === undefined && isLoopback(host)
        ? ['Only programs on this host can fetch them: a BMC needs --host 0.0.0.0 or --public-url.']
        : []
    stdout.lines([`Live images are served at ${images.url}.`, ...reach, '', ...lines])
  }
  await stopAsked(stopped)
  return 0
}

/** Settings that make Ironic boot these images, as lines for a person. */
export function imageLines(whose: string, { iso, pxe }: LiveUrls): string[] {
  return [
    `  for ${whose}:`,
    ...(iso === null ? [] : [`    deploy_iso              ${iso}`]),
    ...(pxe === null
      ? []
      : [
          `    deploy_kernel           ${pxe.kernel}`,
          `    deploy_ramdisk          ${pxe.ramdisk}`,
          `    kernel_append_params    ${pxe.append}`,
        ]),
  ]
}
