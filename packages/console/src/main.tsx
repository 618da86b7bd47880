// Starts the console in its page.

import { render } from 'preact'
import { App } from './app.tsx'
import { resumeSession } from './person.ts'
import { watchLinks } from './route.ts'
import { watchActivity } from './activity.ts'
import { applyTheme } from './theme.ts'

applyTheme()
watchActivity()
watchLinks()
void resumeSession()
const place = document.getElementById('app')
if (place) render(<App />, place)
