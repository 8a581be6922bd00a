import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeProgram, manualPage } from '../dist/apps/cli/index.js'

// Writes dist/man/ironstage.1 from the commands and their options: a part of `npm run build`.

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
mkdirSync(join(root, 'dist/man'), { recursive: true })
writeFileSync(join(root, 'dist/man/ironstage.1'), manualPage(describeProgram(), version))
