import { testScenarios } from './short-form.ts';

testScenarios('sqlite');
