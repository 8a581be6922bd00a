import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { folderServer } from '../folder-server.js'
import { largeImage } from '../large-image.js'
import { beside, localTools } from '../local-host.js'

/**
 * Prints the speed and memory of an installation beside those of the bare coreos-installer. Assertions cover only
 * values that
 * do not depend on the load of the machine.
 */

/** In MiB; `REACH_SIZES=256,1024 REACH_RUNS=3` takes some minutes more, and gives medians. */
const SIZES = (process.env['REACH_SIZES'] ?? '256').split(',').map(Number)
const RUNS = Number(process.env['REACH_RUNS'] ?? '1')

let place: string
let tools: { preload: string; installer: string }
let server: Awaited<ReturnType<typeof folderServer>>
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-reach-'))
  tools = await localTools(place)
  server = await folderServer()
  await writeFile(join(place, 'c.ign'), JSON.stringify({ ignition: { version: '3.4.0' } }))
  for (const size of SIZES) await copyFile((await largeImage(size)).xz, imageOf(size))
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(place, { recursive: true, force: true })
})

const imageOf = (size: number) => join(server.folder, `image-${size}.raw.xz`)

/** Each way to install, with what it took; the most memory that our process had, in KiB. */
const MEASURED = `
now() { date +%s%3N; }
fresh() { rm -f $disk; truncate -s $((size + 64))M $disk; }
bare() {
  fresh; loop=$(losetup --find --show --partscan $disk); since=$(now)
  coreos-installer install --image-file $image --insecure --ignition-file $place/c.ign --append-karg rehearsal=1 $loop >/dev/null 2>&1
  echo "bare $(($(now) - since)) 0"; losetup --detach $loop
}
ours() {
  what=$1; shift; fresh; since=$(now)
  $ironstage deploy --target local:$disk --ignition $place/c.ign --append-karg rehearsal=1 --json "$@" >$place/out 2>&1 & pid=$!
  peak=0
  while kill -0 $pid 2>/dev/null; do
    rss=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$pid/status 2>/dev/null); [ -z "$rss" ] || peak=$rss
    sleep 0.05
  done
  wait $pid || cat $place/out
  echo "$what $(($(now) - since)) $peak"
  # From the installer's first word to its last.
  grep -o '"line":"[^"]*","elapsed":[0-9.]*' $place/out | sed -n "1s/.*:/$what-first /p; \\$s/.*:/$what-last /p"
}
`

test.each(SIZES)(
  'an image of %i MiB',
  async (size) => {
    const disk = join(place, 'disk.img')
    // Not of the loopback network by its name, so that it goes through the cache.
    const url = `${server.url.replace('127.0.0.1', '0.0.0.0')}/image-${size}.raw.xz`
    const { code, out } = await beside(
      { folder: place },
      tools,
      `set -e; place=${place}; size=${size}; disk=${disk}; image=${imageOf(size)}
${MEASURED}
for n in $(seq ${RUNS}); do bare; ours file --image $image; done
ours first --image ${url} --cache-as zstd --cache-dir $place/cache
for n in $(seq ${RUNS}); do ours second --image ${url} --cache-as zstd --cache-dir $place/cache; done`,
    )
    expect({ code }, out).toEqual({ code: 0 })
    const rows = out
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
    const values = (what: string, column: number) =>
      rows.filter(([name]) => name === what).map((row) => Number(row[column]))
    const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
    const [bare, file, first, second] = ['bare', 'file', 'first', 'second'].map((what) => median(values(what, 1)))
    const installer = (what: string) =>
      median(values(`${what}-last`, 1).map((last, n) => (last - values(`${what}-first`, 1)[n]!) * 1000))
    const peak = Math.max(...['file', 'first', 'second'].flatMap((what) => values(what, 2))) / 1024
    const peaks = ['file', 'first', 'second'].map(
      (what) => `${what} ${Math.round(Math.max(...values(what, 2)) / 1024)}`,
    )
    process.stdout.write(
      [
        `${size} MiB: bare ${bare} ms; deploy --target local: ${file} ms (${(file! / bare!).toFixed(2)}), ` +
          `of which the installer ${Math.round(installer('file'))} ms (${(installer('file') / bare!).toFixed(3)})`,
        `  into the cache as zstd ${first} ms, from it ${second} ms (${(file! / second!).toFixed(1)} times as fast as xz), ` +
          `of which the installer ${Math.round(installer('second'))} ms (${(installer('file') / installer('second')).toFixed(1)} times)`,
        `  memory of ironstage at most, in MiB: ${peaks.join(', ')}; peak ${Math.round(peak)}\n`,
      ].join('\n'),
    )
    expect((await readFile(join(place, 'out'), 'utf8')).includes('"ok":true')).toBe(true)
  },
  1_200_000,
)
