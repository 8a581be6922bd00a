import { copyFile } from 'node:fs/promises'
import { openFileSource, fileRepresentation, serveFiles } from '../../../base/bytes/index.js'
import { IGNITION_FILE, openLiveIso } from '../../../coreos/index.js'
import { REHEARSAL_LIVE_ISO } from '../../../lab/index.js'
import type { Clock, Logger, Random } from '../../../base/runtime/index.js'
import type { SavedAddresses } from '../saved-addresses.js'

/** A live system whose programs a rehearsal can work with: one that starts an agent, which has no Ironic to ask. */
const CONFIG = JSON.stringify({
  ignition: { version: '3.4.0' },
  systemd: {
    units: [
      {
        name: 'ironic-agent.service',
        enabled: true,
        contents:
          '[Service]\nExecStart=/usr/bin/podman run --rm registry.example.org/ironic-agent\n[Install]\nWantedBy=multi-user.target\n',
      },
    ],
  },
})

/** Serves the live ISO of a rehearsal to its BMCs, at a port that they keep over restarts. */
export async function serveLiveMedium(
  file: string,
  addresses: SavedAddresses,
  parts: { clock: Clock; random: Random; logger: Logger },
): Promise<AsyncDisposable & { isoUrl: string }> {
  await copyFile(REHEARSAL_LIVE_ISO, file)
  await using source = await openFileSource(file, parts.clock, true)
  const iso = await openLiveIso(source, parts.clock)
  await source.replace([await iso.embed(new Map([...iso.files, [IGNITION_FILE, Buffer.from(CONFIG)]]))])
  const server = await addresses.open('the image of the live system', (port) =>
    serveFiles({
      ...parts,
      host: '127.0.0.1',
      port,
      find: (asked) => (asked === '/live.iso' ? fileRepresentation(file, parts.clock) : undefined),
    }),
  )
  return Object.assign(server, { isoUrl: `${server.url}/live.iso` })
}
