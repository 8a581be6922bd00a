import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianProgram, succeeds } from './peers.js'

/** A command that still runs, and what it has printed. */
export interface RunningCommand {
  readonly child: ChildProcess
  output(): string
  /** Waits for a line; rejects when the command ends before. */
  line(form: RegExp): Promise<RegExpExecArray>
}

/** Podman with a storage of its own, in a mount namespace whose control groups it understands. */
export class ContainerEngine implements AsyncDisposable {
  private constructor(
    readonly folder: string,
    /** A program that takes the command line of podman. */
    readonly program: string,
  ) {}

  /** @param registry the registry in place of `registry.example` */
  static async open(registry: string): Promise<ContainerEngine> {
    await debianProgram('podman', 'podman')
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-engine-'))
    const at = (name: string): string => join(folder, name)
    const podman = (await succeeds('which', 'podman')).trim()
    // This host may set limits lower than Podman's defaults, and have both versions of control groups.
    await writeFile(
      at('containers.conf'),
      `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
`,
    )
    await writeFile(
      at('registries.conf'),
      `[[registry]]\nprefix = "registry.example"\nlocation = "${registry}"\ninsecure = true\n`,
    )
    await writeFile(
      at('podman'),
      `#!/bin/sh
export CONTAINERS_CONF=${at('containers.conf')} CONTAINERS_REGISTRIES_CONF=${at('registries.conf')}
exec unshare --mount sh -c 'mount -t cgroup2 none /sys/fs/cgroup && exec ${podman} "$@"' podman \\
  --root ${at('storage')} --runroot ${at('run')} --tmpdir ${at('tmp')} "$@"
`,
    )
    await chmod(at('podman'), 0o755)
    return new ContainerEngine(folder, at('podman'))
  }

  run(...argv: string[]): Promise<string> {
    return succeeds(this.program, ...argv)
  }

  /** Starts a container that stays; it is removed when its command ends. */
  start(...argv: string[]): RunningCommand {
    const child = spawn(this.program, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const ended = once(child, 'close')
    return {
      child,
      output: () => output,
      line: async (form) => {
        for (;;) {
          const found = form.exec(output)
          if (found) return found
          const more = await Promise.race([
            once(child.stdout, 'data'),
            once(child.stderr, 'data'),
            ended.then(() => null),
          ])
          if (more === null && !form.test(output)) throw new Error(`the container ended: ${output}`)
        }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run('rm', '--all', '--force', '--time', '1')
    await succeeds('rm', '-rf', this.folder)
    await rm(this.folder, { recursive: true, force: true })
  }
}
