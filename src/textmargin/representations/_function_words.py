"""Words that carry grammar and hardly any topic, by language: articles, pronouns, prepositions, conjunctions,
auxiliary verbs.

No verb, noun or adverb that may be what a text is about (call, back, now, system, fire), unlike
scikit-learn's list of English stop words. Pieces that a tokeniser makes of contractions (don't: don) are here
too. They tell a language, and can be left out.
"""

_LISTS = {
    "english": """
        a about above across after afterwards again against all almost alone along already also although
        always am among an and another any anybody anyhow anyone anything anyway anywhere are aren around
        as at be became because become becomes becoming been before beforehand behind being below beside
        besides between beyond both but by can cannot cant could couldn couldnt did didn didnt do does
        doesn doesnt doing don done dont down during each either else elsewhere enough etc even ever every
        everybody everyone everything everywhere except few first for former formerly from further get
        gets getting got had hadn hadnt has hasn hasnt have haven havent having he hence her here hereby
        herein hers herself him himself his how however if im in indeed instead into is isn isnt it its
        itself ive just last latter least less let like ll many may maybe me meanwhile might more moreover
        most mostly much must mustn my myself namely neither never nevertheless next no nobody none nor
        not nothing nowhere of off often on once one only onto or other others otherwise ought our ours
        ourselves out over own per perhaps quite rather re really same several shall shan she should
        shouldn shouldnt since so some somebody somehow someone something sometime sometimes somewhere
        still such than that thats the their theirs them themselves then thence there thereafter thereby
        therefore therein these they this those though through throughout thru thus to together too toward
        towards two under until up upon us ve very via was wasn wasnt we well were weren werent what
        whatever when whence whenever where whereas whereby wherein wherever whether which while who
        whoever whole whom whose why will with within without won wont would wouldn wouldnt yet you your
        yours yourself yourselves""",
    "german": """
        ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes
        anders auch auf aus ausser außer bei beide beiden beim bereits bin bis bisher bist da dabei
        dadurch dafür dagegen daher dahin damit danach daneben dann daran darauf daraus darf darin darüber
        darum darunter das dass daß davon davor dazu dein deine deinem deinen deiner dem demnach den denen
        denn dennoch der deren derer des deshalb dessen desto deswegen dich die dies diese diesem diesen
        dieser dieses dir doch dort du durch dürfen ebenso eher ein eine einem einen einer eines einige
        einigen einiger einiges einmal er erst es etwa etwas euch euer eure eurem euren für gar gegen
        gewesen hab habe haben habt hat hatte hatten hattest her hier hin hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer ihres im immer in indem ins irgend ist ja je jede jedem jeden jeder jedes
        jedoch jene jenem jenen jener jenes kann kannst kein keine keinem keinen keiner könnte können
        konnte man manche manchem manchen mancher mehr mein meine meinem meinen meiner meines mich mir mit
        muss muß musste müssen nach nachdem neben nicht nichts noch nun nur ob oder ohne schon sehr sein
        seine seinem seinen seiner seines seit selbst sich sie sind so sobald sogar solche solchem solchen
        solcher soll sollen sollte sollten sondern sonst soweit sowie trotz über um und uns unser unsere
        unserem unseren unter viel viele vielen vom von vor während wann war waren warst warum was weder
        weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder will
        wir wird wirst wo wobei wodurch wofür woher wohin wollen womit worden worin wurde wurden würde
        würden zu zum zur zwar zwischen""",
    "french": """
        afin ai ainsi ait alors après as assez au aucun aucune auquel aura aurait aussi autant autre
        autres aux auxquelles auxquels avaient avais avait avant avec avez avions avoir avons ayant
        beaucoup bien car ce ceci cela celle celles celui cependant ces cet cette ceux chacun chaque chez
        comme comment contre dans davantage de dehors depuis des dès desquels dessous dessus deux devant
        doit donc dont du duquel durant elle elles en encore enfin entre envers es est et étaient étais
        était étant été êtes être eu eux fait fois font furent fut grâce hors ici il ils je jusque la là
        laquelle le lequel les lesquels leur leurs lors lorsque lui ma mais malgré me même mêmes mes mien
        moi moins mon ne ni non nos notre nous on ont or ou où par parce parmi pas pendant peu peut
        peuvent plus plusieurs plutôt pour pourquoi près presque puis puisque qu quand que quel quelle
        quelles quelque quelques quels qui quoi quoique sa sans sauf se selon sera serait seront ses si
        sien sinon soi soit sommes son sont sous souvent suis sur ta tandis tant te tel telle telles tels
        tes toi ton toujours tous tout toute toutes très trop tu un une vers voici voilà vos votre vous""",
    "spanish": """
        al algo alguien algún alguna algunas alguno algunos allí ambos ante antes aquel aquella aquellas
        aquellos aquí así aun aún aunque bajo bien cada casi como cómo con contra cual cuál cuales
        cualquier cuando cuándo cuanto de del desde después donde dónde dos durante el él ella ellas ello
        ellos en entonces entre era eran eras eres es esa esas ese eso esos esta está estaba estaban
        estado están estar estas este esto estos estoy fue fueron fui ha había habían haber han has hasta
        hay he hemos la las le les lo los más me mi mí mía mientras mío mis mismo mucha muchas mucho
        muchos muy nada ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros nunca otra
        otras otro otros para pero poca poco pocos por porque pues que qué quien quién quienes se sea sean
        según ser será si sí sido siempre sin sino so sobre sois solo sólo somos son soy su sus suya suyo
        tal también tampoco tan tanto te tengo ti tiene tienen toda todas todavía todo todos tras tu tú
        tus tuyo un una unas uno unos usted ustedes va vosotros vuestra vuestro ya yo""",
    "italian": """
        abbia abbiamo ad agli ai al alcun alcuna alcune alcuni alla alle allo allora altra altre altri
        altro anche ancora aveva avevano avere avete avuto che chi ci ciascuno cioè col come con così cui
        da dagli dai dal dalla dalle dallo dei degli del dell della delle dello dentro di dopo dove due
        dunque durante ecco ed era erano essa esse essendo essere essi fino fra fu gli ha hai hanno ho il
        in infatti io la le lei li lo loro lui ma me mentre mi mia mie miei mio molta molte molti molto ne
        né negli nei nel nella nelle nello nemmeno nessun nessuna nessuno noi non nostra nostre nostri
        nostro nulla ogni ognuno oltre oppure per perché però più poco poi qualche quale quali quando
        quanta quanto quasi quella quelle quelli quello questa queste questi questo qui quindi sarà se sei
        sembra sempre senza si sia siamo siano siete solo sono sopra sotto sta stata state stati stato su
        sua sue sugli sui sul sulla sulle sullo suo suoi tale tali tanto te ti tra tu tua tue tuo tuoi
        tutta tutte tutti tutto un una uno va verso vi voi vostra vostro""",
    "portuguese": """
        ainda algo alguém algum alguma algumas alguns ambos ante antes ao aos apenas após aquela aquelas
        aquele aqueles aquilo as às assim até cada com como contra contudo da daquele das de dela delas
        dele deles depois desde dessa desse desta deste do dos durante ela elas ele eles em embora
        enquanto então entre era eram és essa essas esse esses esta está estamos estão estar estas estava
        estavam este estes estou eu foi fomos for foram fosse há isso isto já lhe lhes logo mais mas me
        mesma mesmo meu meus minha minhas muita muitas muito muitos na nada não nas nem nenhum nenhuma
        nessa nesse nesta neste no nos nós nossa nossas nosso nossos num numa nunca onde os ou outra
        outras outro outros para pela pelas pelo pelos perante pois por porém porque pouca pouco poucos
        quais qual qualquer quando quanto quase que quem são se seja sejam sem sempre sendo ser será serão
        seu seus sido só sob sobre somos sou sua suas tal também tampouco tanto te tem têm tendo ter teu
        teus teve tinha tinham toda todas todavia todo todos tu tua tuas tudo um uma umas uns vai você
        vocês vos vós""",
    "dutch": """
        aan al alle alleen alles als altijd andere anders beide bij daar daarom dan dat de deze die dit
        doch door dus een eens elk elke en enkele er ergens geen geweest had hadden heb hebben hebt heeft
        hem hen het hier hij hoe hun ieder iedere iemand iets ik in indien is ja je jij jou jouw jullie
        kan kon konden kunnen maar me meer mij mijn moest moet moeten mag na naar nadat niet niets nog
        nooit nu of om omdat ons onze ook op over pas reeds samen sinds sommige steeds te tegen ten ter
        terwijl tijdens toch toen tot tussen uit uw van vanaf veel via voor vooral waar waarom wanneer
        want waren was wat we weer wel welke werd werden wie wij wil wordt worden zal ze zelf zelfs zich
        zij zijn zo zoals zonder zou zouden zullen""",
    "swedish": """
        alla allt alltid än andra annan annat är att av bara behöver bli blir blivit både dem den denna
        deras dess dessa det detta dig din dina ditt dock du där därför då efter ej eller en er era ert
        ett ett från för före genom ha hade han hans har henne hennes hon honom hos hur här i icke ifrån
        ingen inget inom inte in jag ju kan kanske kunde kommer man med medan mellan men mer mest mig min
        mina mitt mot mycket måste ni nog nu någon något några när och också om oss på redan sedan sig sin
        sina sitt själv ska skall skulle som så sådan ta till trots under upp ut utan vad var vara varför
        varit varje vars vart vem vi vid vilka vilken vilket vill våra vår vårt åt över""",
    "danish": """
        ad af alle alt altid anden andet andre at bare begge blev blive bliver da de dem den denne der
        deres det dette dig din dine disse dit dog du efter ej eller en end er et for fordi før fra gennem
        godt ham han hans har havde have hen hende hendes her hos hun hvad hvem hver hvilken hvis hvor
        hvordan hvorfor hvornår i igen ikke ind ingen intet jeg jer jo kan kom kunne man mange med meget
        mellem men mens mere mig min mine mit mod må måske ned noget nogen nogle nok nu når og også om op
        os over på selv sig sin sine sit skal skulle som så sådan thi til ud uden under var ved vi vil
        ville vor vores være været""",
    "norwegian": """
        alle alt annen annet andre at av bare begge ble bli blir blitt både da de deg dem den denne der
        deres det dette din dine disse ditt du dere eller en enn er et ett etter for fordi fra før gjennom
        ha hadde han hans har henne hennes her hos hun hva hvem hver hvilken hvis hvor hvordan hvorfor i
        ikke ingen inn jeg kan kanskje kunne man mange med meg meget mellom men mens mer min mine mitt mot
        mye må ned noe noen nok nå når og også om opp oss over på selv seg sin sine sitt skal skulle slik
        som så til ut uten under var ved vi vil ville vår våre vært være""",
    "polish": """
        aby ale albo ani aż bardzo bez bo być był była było były będzie będą cała cały chociaż choć ci co
        coś czy czyli czego czemu dla dlaczego dlatego do dopiero gdy gdyby gdzie go ich ile im inna inne
        inny innych ja jak jakby jaki jakie jako je jeden jednak jedna jego jej jemu jest jestem jeszcze
        jeśli jeżeli już każdy kiedy kto która które którego której który których którzy ku lecz lub ma
        mają mam mi między mimo mnie mną moja może można mój mu na nad nam nami nas nasz nawet nic nich
        nie niego niej nigdy nim niż no nosi obok od około on ona one oni ono oraz po pod podczas ponad
        ponieważ potem poza prawie przed przede przez przy raz również sam są się skąd sobie są swoje ta
        tak taka taki takie także tam te tego tej temu ten teraz to tobie tu twoja twój ty tych tylko tym
        u w wam was we według wiele więc wszystkie wszystko wy z za zawsze ze że żeby""",
    "russian": """
        а без бы был была были было быть в вам вами вас весь во вот все всего всех всё вы где да даже для
        до его ее её если есть еще ещё же за и из или им ими их к как ко когда который которая которые
        которых которого кто ли лишь между меня мне мой моя мы на над надо наш не него нее неё нет ни них
        но ну о об однако он она они оно от очень по под после потом потому почему при про раз с сам себе
        себя со так также такая такие такой там тебе тебя тем теперь то тогда того тоже той только том тот
        ту ты у уже хотя чего чей чем что чтобы чье чья эта эти этих это этого этой этом этот я""",
    "turkish": """
        acaba ama ancak artık aslında ayrıca bana bazı belki ben beni benim beri bile bir biri birkaç biz
        bize bizi bizim böyle bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de değil
        diğer diye dolayı en fakat gibi göre hala hangi hatta hem henüz hep hepsi her herhangi herkes hiç
        için ile ilgili ise işte itibaren kadar karşın kendi kendini ki kim kimse mi mı mu mü nasıl ne
        neden nerede nin niye o olan olarak oldu olduğu olmak olması olsa olup ona ondan onlar onu onun
        oysa pek rağmen sadece sanki sen senin siz size sizin sonra şey şimdi şöyle şu şuna tarafından tüm
        üzere var ve veya ya yani yerine yine yoksa zaten""",
    "arabic": """
        "" في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين اللذان ما ماذا لا لم لن ليس إن أن أنا أنت
        أنتم نحن هو هي هم هن كان كانت كانوا يكون تكون قد لقد كل بعض غير بين بعد قبل عند حتى إذا إذ ثم أو
        أم بل لكن لكي كي حيث كما مثل أي أين متى كيف لماذا هل هنا هناك منذ خلال حول ضد دون فوق تحت أمام
        وراء له لها لهم لنا لك لي به بها بهم بنا فيه فيها منه منها عليه عليها إليه إليها وقد ولا وهو وهي
        ومن وفي وعلى وما وأن وإن فإن فقد أيضا جدا فقط الآن""",
}

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _LISTS.items()
}
