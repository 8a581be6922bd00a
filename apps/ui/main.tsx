import { render } from 'preact'
import './style/base.css'
import './style/frame.css'
import './style/fleet.css'
import './style/node.css'
import './style/exchanges.css'
import './style/faults.css'
import './style/machine.css'
import './style/run.css'
import './style/views.css'
import './style/recordings.css'
import { applyTheme } from './parts/theme.js'
import { App } from './parts/app.js'

applyTheme()
render(<App />, document.getElementById('page')!)
