import { testControls } from './short-form.ts';

testControls('sqlite');
